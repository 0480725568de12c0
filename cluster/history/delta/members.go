package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// members calls each for the members of an object in JSON, with their keys as they are written, without quotes. It
// reads only as much as it needs to find where they end: each write of a custom resource goes through it, and a decoder
// takes ten times as long.
func members(text []byte, each func(key, value []byte)) error {
	text = bytes.TrimSpace(text)
	if len(text) < len("{}") || text[0] != '{' {
		return fmt.Errorf("%w: no object", ErrForm)
	}
	for rest := text[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) > 0 && rest[0] == '}' {
			return nil
		}
		n := valueEnd(rest)
		if n < len(`""`) || rest[0] != '"' {
			return fmt.Errorf("%w: no key", ErrForm)
		}
		key := rest[1 : n-1]
		rest = bytes.TrimLeft(rest[n:], " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			return fmt.Errorf("%w: no value", ErrForm)
		}
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if n = valueEnd(rest); n == 0 {
			return fmt.Errorf("%w: no value", ErrForm)
		}
		each(key, rest[:n])
		rest = rest[n:]
	}
}

// valueEnd is the length of the value that text begins with, 0 if it has no end.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := stringEnd(text[i:])
			if n == 0 {
				return 0
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of the object around a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// stringEnd is the length of the string that text begins with, 0 if it has no end.
func stringEnd(text []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return 0
		}
		i += n + 1
		escapes := 0
		for text[i-2-escapes] == '\\' { // ends at the first quote at the latest
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

func (o *Object) parseJSON(value []byte) error {
	var meta []byte
	err := members(value, func(key, value []byte) {
		switch string(key) {
		case "metadata":
			meta = value
			return
		case "kind":
			_ = json.Unmarshal(value, &o.Kind) // what is none has none
		case "apiVersion":
			_ = json.Unmarshal(value, &o.APIVersion)
		}
		o.parts = append(o.parts, part{string(key), value})
	})
	if err != nil {
		return err
	}
	kept, err := filtered(meta, func(key string, value []byte) []byte {
		switch key {
		case "managedFields", "generation":
			return nil
		case "annotations":
			if bytes.Contains(value, []byte(lastApplied)) {
				value, _ = filtered(value, dropLastApplied) // it was read as a value
			}
		case "uid":
			_ = json.Unmarshal(value, &o.UID)
		case "ownerReferences":
			var owners []struct{ UID string }
			_ = json.Unmarshal(value, &owners)
			for _, owner := range owners {
				o.Owners = append(o.Owners, owner.UID)
			}
		}
		return value
	})
	o.parts = append(o.parts, part{"metadata", kept})
	return err
}

// lastApplied is an annotation that repeats the object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func dropLastApplied(key string, value []byte) []byte {
	if key == lastApplied {
		return nil
	}
	return value
}

// filtered is an object in JSON with what each makes of its members; those of which it makes nothing are left out.
func filtered(text []byte, each func(key string, value []byte) []byte) ([]byte, error) {
	kept := make([]byte, 1, max(len(text), len("{}")))
	err := members(text, func(key, value []byte) {
		if value = each(string(key), value); value != nil {
			kept = append(append(append(append(kept, `,"`...), key...), `":`...), value...)
		}
	})
	if len(kept) > 1 {
		kept = kept[1:]
	}
	kept[0] = '{'
	return append(kept, '}'), err
}
