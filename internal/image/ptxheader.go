package image

import (
	"strconv"
	"strings"
)

// PTXHeader is what the opening directives of a PTX module say (PTX ISA, module directives).
type PTXHeader struct {
	Version     string   `json:"version"`                // "9.0"
	Targets     []string `json:"targets,omitempty"`      // the processor first, then options
	AddressSize int      `json:"address_size,omitempty"` // 32 or 64; 0 if not said
	Bytes       int      `json:"bytes"`                  // length of the text
	Lines       int      `json:"lines"`
}

// ScanPTX reads .version, .target and .address_size at the head of a text. It is a light scan for
// listings, stops at the first other directive and reports no errors: what is absent is left empty.
func ScanPTX(text []byte) PTXHeader {
	text = Text(text)
	h := PTXHeader{Bytes: len(text)}
	for _, c := range text {
		if c == '\n' {
			h.Lines++
		}
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		h.Lines++
	}
	rest := text
	// word takes the next run of bytes up to white space, comma or comment.
	word := func() string {
		rest = skipSpace(rest)
		n := 0
		for n < len(rest) && rest[n] > ' ' && rest[n] != ',' && rest[n] != '/' && n < 64 {
			n++
		}
		w := string(rest[:n])
		rest = rest[n:]
		return w
	}
	for {
		switch word() {
		case ".version":
			if h.Version != "" {
				return h
			}
			h.Version = word()
		case ".target":
			for {
				h.Targets = append(h.Targets, word())
				if rest = skipSpace(rest); len(rest) == 0 || rest[0] != ',' || len(h.Targets) == 16 {
					break
				}
				rest = rest[1:]
			}
		case ".address_size":
			h.AddressSize, _ = strconv.Atoi(strings.TrimSpace(word()))
		default:
			return h
		}
		if len(h.Targets) >= 16 {
			return h
		}
	}
}
