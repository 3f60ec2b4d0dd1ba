/**
 * What makes a shell ask `millrace complete` for the words that may come next. It answers a line for each, `word`, tab, what it
 * is; and a last line that says what else may come: `:files`, `:folders` or `:nothing`. Scripts of kept libraries complete no paths.
 */
const BASH = `# millrace: completion for bash
_millrace() {
  local IFS=$'\\n' answer kind
  answer=($(millrace complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)) || return
  COMPREPLY=()
  for line in "\${answer[@]}"; do
    case $line in
      :*) kind=$line ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done
  case $kind in
    :files) compopt -o default ;;
    :folders) compopt -o dirnames ;;
  esac
}
complete -F _millrace millrace
`;

const ZSH = `#compdef millrace
# millrace: completion for zsh
_millrace() {
  local -a answer words_and_meanings
  local kind line
  answer=("\${(@f)$(millrace complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $answer; do
    case $line in
      :*) kind=$line ;;
      *) words_and_meanings+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done
  (( $#words_and_meanings )) && _describe -V millrace words_and_meanings
  case $kind in
    :files) _files ;;
    :folders) _files -/ ;;
  esac
}
compdef _millrace millrace
`;

const FISH = `# millrace: completion for fish
function __millrace_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  for line in (millrace complete -- $before[2..-1] $current 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path $current
      case ':folders'
        __fish_complete_directories $current
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c millrace -e
complete -c millrace -f -a '(__millrace_complete)'
`;

/** The script of each shell. */
export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
