package devlog

import (
	"strconv"
	"strings"
	"time"
)

// klogHeader is where klog's message begins at the earliest: `I0506 15:04:05.123456   12345 main.go:1] `.
const klogHeader = len("I0506 15:04:05.123456 ")

// parseKlog reads klog's text: a header, and a message that is quoted where pairs follow it.
func parseKlog(text string) (l Line, ok bool) {
	header, message, found := strings.Cut(text, "] ")
	if !found || len(header) < klogHeader || !strings.Contains(header, ".go:") {
		return l, false
	}
	l.Level = map[byte]Level{'I': Info, 'W': Warn, 'E': Error, 'F': Error}[header[0]]
	stamp, err := time.ParseInLocation("0102 15:04:05.000000", header[1:klogHeader-1], time.Local)
	if l.Level == Unknown || err != nil {
		return Line{}, false
	}
	l.Time = stamp // klog has no year, and a reader needs none
	quoted, err := strconv.QuotedPrefix(message)
	if err != nil {
		l.Message = message
		return l, true
	}
	l.Message, _ = strconv.Unquote(quoted)
	pairs, ok := splitPairs(message[len(quoted):])
	if !ok {
		l.Message = message
		return l, true
	}
	level := l.Level
	l.take(pairs)
	l.Level = max(level, l.Level)
	return l, true
}

// parsePairs reads name=value pairs, one of which is a message: slog's and funcr's text.
func parsePairs(text string) (l Line, ok bool) {
	if !strings.Contains(text, "msg") || !strings.Contains(text, "=") {
		return l, false
	}
	pairs, ok := splitPairs(text)
	if !ok {
		return l, false
	}
	l.take(pairs)
	return l, l.Message != ""
}

// take takes over pairs.
func (l *Line) take(pairs []Field) {
	for _, f := range pairs {
		l.set(f.Name, []byte(strconv.Quote(f.Value)))
	}
}

// splitPairs splits name=value pairs between blanks; names and values may be quoted. It is false for any other text.
func splitPairs(text string) (pairs []Field, ok bool) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var f Field
		if f.Name, text, ok = word(text, "= "); !ok || !strings.HasPrefix(text, "=") || f.Name == "" {
			return nil, false
		}
		if f.Value, text, ok = word(text[1:], " "); !ok {
			return nil, false
		}
		pairs = append(pairs, f)
	}
	return pairs, true
}

// word reads a quoted string, or what comes before one of the characters of end. klog writes lists and structures
// without quotes: they go on to their closing bracket.
func word(text, end string) (word, rest string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", "", false
		}
		word, err = strconv.Unquote(quoted)
		return word, text[len(quoted):], err == nil
	}
	depth := 0
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte("[{", c) >= 0:
			depth++
		case strings.IndexByte("]}", c) >= 0:
			depth--
		case depth <= 0 && strings.IndexByte(end, c) >= 0:
			return text[:i], text[i:], true
		}
	}
	return text, "", true
}
