package lower

func mathSource(name string) (string, []string, bool) { return "", nil, false }
