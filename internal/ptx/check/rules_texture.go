package check

var rulesTexture = ruleSet{}
