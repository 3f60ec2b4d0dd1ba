/** `npx cdk deploy` runs it, and so does `npx millrace dev --app "node examples/cdk-app/app.ts"`. */
import { App } from 'aws-cdk-lib';
import { ShopStack } from './shop-stack.ts';

new ShopStack(new App(), 'Shop');
