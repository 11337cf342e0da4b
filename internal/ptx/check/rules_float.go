package check

var rulesFloat = ruleSet{}
