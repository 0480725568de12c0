// Package conceal hides the values of Secrets in other texts:
//
//	ok := values.Add(secret.Data["password"])
//	text = values.Text(text)
//
// It hides values of 8 bytes and more: as they are, in base64, and as JSON, Go and URLs escape them. A value with bytes
// that encoders escape is also hidden in pieces, those of 8 bytes and more between such bytes, so that further ways to
// escape it leave little. What was written before a value was added is not hidden.
package conceal

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	shortest = 8
	// headSize bounds what is kept of a form. What follows is hidden by its length.
	headSize = 64
	// maxValues bounds, in bytes, what is kept of all values since [Values.Turn].
	maxValues = 8 << 20
	// formCost is what a form costs besides its bytes.
	formCost = 64
	// maxAlike bounds the forms that begin with the same bytes. Where there are more, all is hidden up to a character
	// that encoders escape.
	maxAlike = 32
)

// Hidden stands for a value.
const Hidden = "*****"

// prefix is what forms are looked up by.
type prefix [shortest]byte

// form is a text to hide: it begins with the head, and has so many bytes.
type form struct {
	head string
	size int
}

// Values are the values to hide. The zero value has none. It is for one goroutine.
type Values struct {
	pairs [1 << 16 / 64]uint64 // which two bytes forms begin with
	now   generation
	past  generation // before Turn
}

type generation struct {
	forms map[prefix][]form // longest head first
	size  int
}

// Turn forgets the values that were added before the last Turn. Those that are to be hidden still must be added again.
func (v *Values) Turn() { v.past, v.now = v.now, generation{} }

// Add adds a value. It is false if there is no room for all of its forms.
func (v *Values) Add(value []byte) bool {
	if len(value) < shortest {
		return true
	}
	ok := v.addAligned(value)
	for i, piece := range bytes.FieldsFunc(value, escaped) {
		if i == maxPieces {
			break
		}
		ok = v.add(bytes.TrimSpace(piece)) && ok
		for _, word := range bytes.FieldsFunc(piece, separates) {
			if random(word) {
				ok = v.add(word) && ok
			}
		}
	}
	if len(value) > headSize {
		return ok
	}
	text := string(value)
	if strings.ContainsFunc(text, binary) {
		text = "" // its pieces are hidden: the rest could be what stands before texts in protobuf
	}
	for _, once := range []string{text, quoted(text, true), quoted(text, false), inner(strconv.Quote(text)), url.QueryEscape(text), url.PathEscape(text)} {
		ok = v.add([]byte(once)) && v.add([]byte(quoted(once, true))) && ok
	}
	return ok
}

// addAligned adds base64 of a value as it is, and within a longer text, where it begins at one of three places.
func (v *Values) addAligned(value []byte) bool {
	ok := true
	for before, skip := range []int{0, 2, 3} { // characters that hold bits of what is before
		padded := append(make([]byte, before, before+len(value)), value...)
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			ok = v.add([]byte(alphabet.EncodeToString(padded)[skip:len(padded)*8/6])) && ok
		}
	}
	return ok
}

// maxPieces bounds the pieces of a value that are hidden by themselves.
const maxPieces = 1024

// separates reports whether a character stands between the words of configurations, addresses and headers.
func separates(r rune) bool { return r == ' ' || strings.ContainsRune(":=@,;/?|()[]{}", r) }

// random reports whether a word within a value looks like a password or a token, and not like a word of a language.
func random(word []byte) bool {
	return len(word) >= 20 || len(word) >= shortest && bytes.ContainsAny(word, "0123456789")
}

// token is the length of the JSON Web Token that text begins with, 0 if there is none. Many are in no Secret.
func token(text []byte) int {
	if !bytes.HasPrefix(text, []byte("eyJ")) {
		return 0
	}
	n := run(text, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if n < 40 || bytes.Count(text[:n], []byte(".")) < 2 {
		return 0
	}
	return n
}

// binary reports whether a character is in no text.
func binary(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// escaped reports whether an encoder escapes a character.
func escaped(r rune) bool { return r < ' ' || r >= 0x7f || strings.ContainsRune("\"'\\<>&%`", r) }

func quoted(text string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(text) // a text can be
	return inner(strings.TrimSuffix(b.String(), "\n"))
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// add adds a form.
func (v *Values) add(text []byte) bool {
	if len(text) < shortest {
		return true
	}
	f := form{string(text[:min(len(text), headSize)]), len(text)}
	alike := v.now.forms[prefix(text)]
	if len(alike) > maxAlike {
		return true
	}
	at, there := slices.BinarySearchFunc(alike, f, longer)
	if there {
		alike[at].size = max(alike[at].size, f.size)
		return true
	}
	cost := formCost + len(f.head)
	if v.now.size+cost > maxValues {
		return false
	}
	v.now.size += cost
	if v.now.forms == nil {
		v.now.forms = map[prefix][]form{}
	}
	pair := uint(text[0])<<8 | uint(text[1])
	v.pairs[pair/64] |= 1 << (pair % 64)
	v.now.forms[prefix(text)] = slices.Insert(alike, at, f)
	return true
}

func longer(a, b form) int {
	return cmp.Or(cmp.Compare(len(b.head), len(a.head)), cmp.Compare(a.head, b.head))
}

// at is the length of the value that text begins with, 0 if there is none.
func (v *Values) at(text []byte) int {
	if n := token(text); n > 0 {
		return n
	}
	if pair := uint(text[0])<<8 | uint(text[1]); v.pairs[pair/64]>>(pair%64)&1 == 0 {
		return 0
	}
	return max(v.now.at(text), v.past.at(text))
}

func (g *generation) at(text []byte) int {
	alike := g.forms[prefix(text)]
	if len(alike) > maxAlike {
		return run(text, escaped)
	}
	for _, f := range alike {
		if len(text) >= len(f.head) && string(text[:len(f.head)]) == f.head {
			if f.size == len(f.head) {
				return f.size
			}
			return max(len(f.head), min(f.size, run(text, escaped)))
		}
	}
	return 0
}

// run is the length of what text begins with, up to a character that ends it.
func run(text []byte, ends func(rune) bool) int {
	if n := bytes.IndexFunc(text, ends); n >= 0 {
		return n
	}
	return len(text)
}

// Bytes returns the text with as many asterisks in place of values. It leaves the text itself alone.
func (v *Values) Bytes(text []byte) []byte {
	hidden, shared := text, true
	for i := 0; i+shortest <= len(text); i++ {
		n := v.at(text[i:])
		if n == 0 {
			continue
		}
		if shared {
			hidden, shared = bytes.Clone(text), false
		}
		for end := i + n; i < end; i++ {
			hidden[i] = '*'
		}
		i--
	}
	return hidden
}

// Text returns the text with [Hidden] in place of values.
func (v *Values) Text(text string) string {
	plain := []byte(text)
	if !v.in(plain) {
		return text
	}
	return string(v.append(nil, plain, false))
}

// in reports whether a text has a value.
func (v *Values) in(text []byte) bool {
	for i := 0; i+shortest <= len(text); i++ {
		if v.at(text[i:]) > 0 {
			return true
		}
	}
	return false
}

// append appends a text, the inside of a JSON string if quoted, without values.
func (v *Values) append(b, text []byte, quoted bool) []byte {
	for i := 0; i < len(text); {
		if i+shortest <= len(text) {
			if n := v.at(text[i:]); n > 0 {
				b = append(b, Hidden...)
				if i += n; quoted && cuts(text[i-n:i]) {
					i = min(i-1+escapeSize(text[i-1:]), len(text))
				}
				continue
			}
		}
		n := 1
		if quoted {
			n = min(escapeSize(text[i:]), len(text)-i)
		}
		b = append(b, text[i:i+n]...)
		i += n
	}
	return b
}

// cuts reports whether a part of the inside of a JSON string ends in the middle of an escape.
func cuts(part []byte) bool {
	return (len(part)-len(bytes.TrimRight(part, `\\`)))%2 == 1
}

// escapeSize is the length of the escape that the inside of a JSON string begins with; 1 if that is none.
func escapeSize(text []byte) int {
	switch {
	case text[0] != '\\' || len(text) == 1:
		return 1
	case text[1] == 'u':
		return len(`\u0000`)
	}
	return len(`\n`)
}

// JSON returns JSON with [Hidden] in place of values in its strings, apart from keys. It stays JSON.
func (v *Values) JSON(text []byte) []byte {
	if !v.in(text) {
		return text
	}
	hidden := make([]byte, 0, len(text))
	for len(text) > 0 {
		begin := bytes.IndexByte(text, '"') + 1
		if begin == 0 {
			break
		}
		end := begin
		for end < len(text) && text[end] != '"' {
			end += escapeSize(text[end:])
		}
		end = min(end, len(text))
		hidden = append(hidden, text[:begin]...)
		if rest := bytes.TrimLeft(text[min(end+1, len(text)):], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			hidden = append(hidden, text[begin:end]...)
		} else {
			hidden = v.append(hidden, text[begin:end], true)
		}
		hidden = append(hidden, text[end:min(end+1, len(text))]...)
		text = text[min(end+1, len(text)):]
	}
	return append(hidden, text...)
}

// Cut is the beginning of a text, of at most size bytes. A value that the end would cut is left out: its beginning
// alone could not be hidden.
func Cut(text string, size int) string {
	if len(text) <= size {
		return strings.Clone(text)
	}
	end := strings.LastIndexFunc(text[:size], func(r rune) bool { return r == ' ' || escaped(r) })
	return strings.Clone(text[:max(end, 0)])
}
