package check

var rulesSync = ruleSet{}
