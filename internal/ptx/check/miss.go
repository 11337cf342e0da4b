package check

// A missRule words the fault of an instruction whose modifiers fit no form of the table, where the nearest form does
// not tell what ptxas tells. It sees the modifiers in order and returns "" to leave the text as it is.
type missRule = func(c *checker, words []string) string

// missSets lists the families that have such rules, by the instruction's first word. Several may have one for a word,
// each for its own types.
var missSets = []map[string]missRule{missInt, missFloat, missCvt, missTexture}

func (c *checker) missRule(name string, words []string) string {
	for _, s := range missSets {
		if r := s[name]; r != nil {
			if text := r(c, words); text != "" {
				return text
			}
		}
	}
	return ""
}
