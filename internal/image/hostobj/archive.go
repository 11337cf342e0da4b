package hostobj

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/image/fault"
)

// ArchiveMagic starts a static library.
const ArchiveMagic = "!<arch>\n"

// thinMagic starts an archive that only names its members.
const thinMagic = "!<thin>\n"

// Member is one file of an archive.
type Member struct {
	Name   string
	Offset uint64 // of the data in the archive
	Data   []byte // aliases the archive
}

// Members reads the files of an archive; symbol indexes and name tables are left out. GNU and BSD
// long names are understood. Errors are *fault.Error: Format (no archive), Unsupported (thin
// archive), Malformed.
func Members(data []byte) ([]Member, error) {
	const part = "archive"
	if !bytes.HasPrefix(data, []byte(ArchiveMagic)) {
		if bytes.HasPrefix(data, []byte(thinMagic)) {
			return nil, fault.New(fault.Unsupported, part, 0, "thin archive: it holds no data")
		}
		return nil, fault.New(fault.Format, part, 0, "no archive magic")
	}
	const headerSize = 60 // name 16, date 12, uid 6, gid 6, mode 8, size 10, end 2
	var (
		members []Member
		names   []byte // GNU table of long names
	)
	for at := uint64(len(ArchiveMagic)); at < uint64(len(data)); {
		rest := data[at:]
		if len(rest) < headerSize {
			if strings.Trim(string(rest), "\n\x00") == "" {
				break
			}
			return members, fault.New(fault.Malformed, part, at, "%d stray bytes", len(rest))
		}
		if rest[58] != '`' || rest[59] != '\n' {
			return members, fault.New(fault.Malformed, part, at+58, "member header does not end in `\\n")
		}
		size, err := strconv.ParseUint(strings.TrimRight(string(rest[48:58]), " "), 10, 63)
		if err != nil {
			return members, fault.New(fault.Malformed, part, at+48, "member size %q", rest[48:58])
		}
		if size > uint64(len(rest)-headerSize) {
			return members, fault.New(fault.Malformed, part, at+48, "member of %d bytes, %d left", size,
				len(rest)-headerSize)
		}
		body := rest[headerSize : headerSize+size : headerSize+size]
		bodyAt := at + headerSize
		next := bodyAt + size + size&1
		name := strings.TrimRight(string(rest[:16]), " ")
		switch {
		case name == "//":
			names = body
			at = next
			continue
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"):
			at = next
			continue
		case strings.HasPrefix(name, "#1/"):
			n, err := strconv.ParseUint(name[3:], 10, 31)
			if err != nil || n > size {
				return members, fault.New(fault.Malformed, part, at, "name %q of a member of %d bytes", name, size)
			}
			name = string(bytes.TrimRight(body[:n], "\x00"))
			body, bodyAt = body[n:], bodyAt+n
			if strings.HasPrefix(name, "__.SYMDEF") {
				at = next
				continue
			}
		case len(name) > 1 && name[0] == '/':
			n, err := strconv.ParseUint(name[1:], 10, 63)
			if err != nil || n >= uint64(len(names)) {
				return members, fault.New(fault.Malformed, part, at, "name %q, name table has %d bytes", name,
					len(names))
			}
			long := names[n:]
			// Names end in "/\n"; Microsoft's tools end them in NUL. The bound keeps many headers that
			// point into one endless name from costing the square of the file.
			if len(long) > maxMemberName {
				long = long[:maxMemberName]
			}
			if end := bytes.IndexAny(long, "\n\x00"); end >= 0 {
				long = long[:end]
			}
			name = strings.TrimSuffix(string(long), "/")
		default:
			name = strings.TrimSuffix(name, "/")
		}
		members = append(members, Member{Name: name, Offset: bodyAt, Data: body})
		at = next
	}
	return members, nil
}

// maxMemberName is the longest file name that systems with these archives allow for a path.
const maxMemberName = 4096
