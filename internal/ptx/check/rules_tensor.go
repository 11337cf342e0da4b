package check

var rulesTensor = ruleSet{}
