package load

import "bytes"

// blankBodies overwrites with spaces what stands in the bodies of functions, lines apart: parsing statements that
// nobody looks at takes longer than all else. Every position stays as it is. It is for code that its own authors
// compile; the mistakes of the user's code are to be found, so that is parsed as it is.
func blankBodies(data []byte) {
	b := blanker{data: data}
	for b.at < len(data) {
		lineStart := b.at == 0 || data[b.at-1] == '\n'
		if lineStart && hasWord(data[b.at:], "func") {
			b.function()
			continue
		}
		b.skip()
	}
}

// blanker goes through a file token by token, as far as braces need it.
type blanker struct {
	data []byte
	at   int
}

// function goes to the end of a function and blanks its body: the braces outside of parentheses that end a line. Others
// are part of the type of a result.
func (b *blanker) function() {
	depth := 0
	for b.at < len(b.data) {
		switch b.data[b.at] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n':
			if depth <= 0 {
				return // a function without a body
			}
		case '{':
			if depth > 0 {
				break
			}
			begin := b.at + 1
			b.group()
			if b.endsLine() {
				blank(b.data[begin : b.at-1])
				return
			}
			continue
		}
		b.skip()
	}
}

// group goes behind the brace that closes the one here.
func (b *blanker) group() {
	depth := 0
	for b.at < len(b.data) {
		switch b.data[b.at] {
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				b.at++
				return
			}
		}
		b.skip()
	}
}

// endsLine reports whether nothing but space and a comment follows a closing brace in its line.
func (b *blanker) endsLine() bool {
	if b.data[b.at-1] != '}' {
		return false
	}
	line, _, _ := bytes.Cut(b.data[b.at:], []byte("\n"))
	line = bytes.TrimSpace(line)
	return len(line) == 0 || bytes.HasPrefix(line, []byte("//"))
}

// skip goes behind the comment, the literal or the byte here.
func (b *blanker) skip() {
	rest := b.data[b.at:]
	switch {
	case rest[0] == '"' || rest[0] == '\'':
		b.at += quoted(rest)
	case rest[0] == '`':
		b.to(rest[1:], "`", 1)
	case bytes.HasPrefix(rest, []byte("//")):
		b.line(rest)
	case bytes.HasPrefix(rest, []byte("/*")):
		b.to(rest[2:], "*/", 2)
	default:
		b.at++
	}
}

// line goes to the end of the line.
func (b *blanker) line(rest []byte) {
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		b.at += n
		return
	}
	b.at = len(b.data)
}

// to goes behind the end of what began so many bytes before rest.
func (b *blanker) to(rest []byte, end string, before int) {
	if n := bytes.Index(rest, []byte(end)); n >= 0 {
		b.at += before + n + len(end)
		return
	}
	b.at = len(b.data)
}

// quoted is the length of the literal at the front, which ends with its line at the latest.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return i
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

func blank(body []byte) {
	for i := range body {
		if body[i] != '\n' {
			body[i] = ' '
		}
	}
}
