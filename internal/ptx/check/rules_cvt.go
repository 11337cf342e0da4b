package check

var rulesCvt = ruleSet{}

var missCvt = map[string]missRule{}
