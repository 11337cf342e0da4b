package check

var rulesInt = ruleSet{}
