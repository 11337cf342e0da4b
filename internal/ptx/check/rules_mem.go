package check

var rulesMem = ruleSet{}
