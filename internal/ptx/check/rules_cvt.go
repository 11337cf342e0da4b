package check

var rulesCvt = ruleSet{}
