/** The tests of the example run here as its reader would run them. */
import '../../../examples/testing/pipeline.test.ts';
