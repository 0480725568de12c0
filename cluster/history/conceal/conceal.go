// Package conceal hides the values of Secrets in other texts:
//
//	values.Add(secret.Data["password"])
//	text = values.Bytes(text)
//
// It hides values of 8 bytes and more, as they are, as JSON has them, and in base64. What was written before a value
// was added is not hidden.
package conceal

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
)

const (
	shortest = 8
	// maxValues bounds the bytes of all values, in every form.
	maxValues = 8 << 20
)

// prefix is what values are looked up by.
type prefix [shortest]byte

// Values are the values to hide. The zero value has none. It is for one goroutine.
type Values struct {
	pairs [1 << 16 / 64]uint64 // which two bytes values begin with
	known map[prefix][][]byte  // longest first
	size  int
}

// Add adds a value. It is false if the value has no room.
func (v *Values) Add(value []byte) bool {
	if len(value) < shortest {
		return true
	}
	encoded, err := json.Marshal(string(value))
	if err == nil {
		encoded = encoded[1 : len(encoded)-1]
	}
	for _, form := range [][]byte{value, encoded, base64.StdEncoding.AppendEncode(nil, value)} {
		if !v.add(form) {
			return false
		}
	}
	return true
}

func (v *Values) add(form []byte) bool {
	p := prefix(form)
	at, there := slices.BinarySearchFunc(v.known[p], form, longer)
	if there {
		return true
	}
	if v.size += len(form); v.size > maxValues {
		v.size -= len(form)
		return false
	}
	if v.known == nil {
		v.known = map[prefix][][]byte{}
	}
	pair := uint(p[0])<<8 | uint(p[1])
	v.pairs[pair/64] |= 1 << (pair % 64)
	v.known[p] = slices.Insert(v.known[p], at, bytes.Clone(form))
	return true
}

func longer(a, b []byte) int { return cmp.Or(cmp.Compare(len(b), len(a)), bytes.Compare(a, b)) }

// at is the length of the value that text begins with, 0 if there is none.
func (v *Values) at(text []byte) int {
	if pair := uint(text[0])<<8 | uint(text[1]); v.pairs[pair/64]>>(pair%64)&1 == 0 {
		return 0
	}
	for _, value := range v.known[prefix(text)] {
		if bytes.HasPrefix(text, value) {
			return len(value)
		}
	}
	return 0
}

// Bytes returns the text with asterisks in place of values. It leaves the text itself alone.
func (v *Values) Bytes(text []byte) []byte {
	if v.size == 0 {
		return text
	}
	hidden := text
	for i := 0; i+shortest <= len(text); {
		n := v.at(text[i:])
		if n == 0 {
			i++
			continue
		}
		if &hidden[0] == &text[0] {
			hidden = bytes.Clone(text)
		}
		for range n {
			hidden[i] = '*'
			i++
		}
	}
	return hidden
}

// Text is [Values.Bytes] for a string.
func (v *Values) Text(text string) string {
	if v.size == 0 {
		return text
	}
	return string(v.Bytes([]byte(text)))
}

// JSON is [Values.Bytes] for JSON, in whose strings it hides values, apart from keys. It stays JSON.
func (v *Values) JSON(text []byte) []byte {
	hidden := v.Bytes(text)
	if len(text) == 0 || &hidden[0] == &text[0] {
		return text
	}
	hidden = bytes.Clone(text)
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(text))
		if rest := bytes.TrimLeft(text[min(end+1, len(text)):], " \t\r\n"); len(rest) == 0 || rest[0] != ':' {
			copy(hidden[i+1:], v.Bytes(text[i+1:end]))
		}
		i = end
	}
	if !json.Valid(hidden) { // a value began or ended within an escape
		return []byte(`"****"`)
	}
	return hidden
}
