package checker

import (
	"fmt"
	"strings"
)

// prefix begins each line of a report, as in those of compute-sanitizer.
const prefix = "========= "

// Title says in a line what has gone wrong.
func (r *Report) Title() string {
	title := kinds[r.Kind].title
	if r.Kind == Null {
		title = "NULL"
	}
	switch {
	case KindCheck(r.Kind) == Race:
		where := fmt.Sprintf("address %#x", r.Address)
		if r.Space == "shared" {
			where = fmt.Sprintf("offset %#x of the block's shared memory", r.Address)
		}
		return fmt.Sprintf("%s in %s memory at %s", strings.ToUpper(title[:1])+title[1:], r.Space, where)
	case len(r.Sites) > 0 && r.Sites[0].Size > 0:
		s := &r.Sites[0]
		return fmt.Sprintf("Invalid __%s__ %s of size %d bytes: %s", strings.ReplaceAll(r.Space, "::", "_"), s.Access,
			s.Size, title)
	case KindCheck(r.Kind) == Sync:
		return "Barrier error detected: " + title
	case r.Kind == Leaked && r.Memory != nil:
		return fmt.Sprintf("Leaked %d bytes at %#x", r.Memory.Size, r.Memory.Address)
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// at says where a site is.
func (s *Site) at() string {
	if s.Call != nil {
		text := "in " + s.Call.String()
		if s.Queue != "" {
			text += ", in " + s.Queue
		}
		return text
	}
	text := "in kernel " + s.Kernel
	if s.Func != "" {
		text += ", function " + s.Func
	}
	if s.Line > 0 {
		text += fmt.Sprintf(", PTX line %d", s.Line)
	}
	if s.SourceLine > 0 {
		text += fmt.Sprintf(" (%s:%d)", s.Source, s.SourceLine)
	}
	if s.Queue != "" {
		text += ", in " + s.Queue
	}
	return text
}

// by says which threads do it.
func (s *Site) by() string {
	text := fmt.Sprintf("by thread (%s) in block (%s)", triple(s.Thread), triple(s.Block))
	if s.More > 0 {
		text += fmt.Sprintf(" and %d more of its warp, up to thread (%s)", s.More, triple(s.LastThread))
		if s.LastAddress != 0 {
			text += fmt.Sprintf(" at %#x", s.LastAddress)
		}
	}
	return text
}

func triple(v [3]uint32) string { return fmt.Sprintf("%d,%d,%d", v[0], v[1], v[2]) }

// String is the report in several lines, in the shape of compute-sanitizer's.
func (r *Report) String() string {
	var b strings.Builder
	line := func(indent int, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s%*s%s\n", prefix, indent, "", text)
		}
	}
	line(0, r.Title())
	for i := range r.Sites {
		s := &r.Sites[i]
		if i == 0 && len(r.Sites) == 1 && (s.Size > 0 || s.Access == "") {
			line(4, s.at())
		} else if s.Size > 0 {
			line(4, fmt.Sprintf("%s of %d bytes %s", s.Access, s.Size, s.at()))
		} else {
			line(4, strings.TrimSpace(s.Access+" "+s.at()))
		}
		if s.Call == nil {
			indent := 4
			if len(r.Sites) > 1 {
				indent = 8
			}
			line(indent, s.by())
		}
	}
	if len(r.Sites) == 1 && r.Sites[0].Size > 0 && r.Address != 0 {
		line(4, fmt.Sprintf("address %#x", r.Address))
	}
	line(4, r.Where)
	if r.Memory != nil {
		line(4, "allocated by "+r.Memory.Made.String())
		if r.Memory.Freed != (Call{}) {
			line(4, "freed by "+r.Memory.Freed.String())
		}
	}
	line(4, r.Cure)
	return b.String()
}
