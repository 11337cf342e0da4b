package check

var rulesFloat = ruleSet{}

var missFloat = map[string]missRule{}
