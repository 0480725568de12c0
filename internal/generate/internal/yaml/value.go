package yaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"unicode"
)

// Value writes a value as encoding/json decodes it with UseNumber: nil, bool,
// string, json.Number, []any and map[string]any.
func (w *Writer) Value(v any) {
	switch v := v.(type) {
	case nil:
		w.Null()
	case bool:
		w.Bool(v)
	case string:
		w.String(v)
	case json.Number:
		w.Number(string(v))
	case []any:
		w.BeginSeq()
		for _, item := range v {
			w.Value(item)
		}
		w.EndSeq()
	case map[string]any:
		w.BeginMap()
		for _, key := range Sorted(maps.Keys(v)) {
			w.Key(key)
			w.Value(v[key])
		}
		w.EndMap()
	default:
		panic(fmt.Sprintf("yaml: %T is not a JSON value", v))
	}
}

// JSON writes a value given as JSON text.
func (w *Writer) JSON(text []byte) error {
	var s string
	if len(text) > 0 && text[0] == '"' && json.Unmarshal(text, &s) == nil { // as most are: a decoder has a buffer to fill
		w.Value(s)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	w.Value(v)
	return nil
}

// Sorted returns keys in the order in which a map has them.
//
// [Compare] is no order: 009 comes before 00A, which comes before 08, which comes
// before 009. The library sorts keys as the iteration of a Go map yields them, so
// that maps with such a circle come out differently from run to run. Here they
// always come out as the library writes them when it meets them in byte order.
func Sorted(keys iter.Seq[string]) []string {
	sorted := slices.Sorted(keys)
	slices.SortFunc(sorted, Compare)
	return sorted
}

// Compare compares two keys: letters after all else, digits by the number that
// they make. Use [Sorted] to sort.
func Compare(a, b string) int {
	switch {
	case a == b:
		return 0
	case less([]rune(a), []rune(b)):
		return -1
	}
	return 1
}

func less(a, b []rune) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		aLetter, bLetter := unicode.IsLetter(a[i]), unicode.IsLetter(b[i])
		switch {
		case aLetter && bLetter:
			return a[i] < b[i]
		case aLetter || bLetter:
			return bLetter
		}
		return numberLess(a, b, i)
	}
	return len(a) < len(b)
}

// numberLess compares at i, where neither has a letter: by number, then by the
// count of digits, then by rune. Zeros in the middle of a number count.
func numberLess(a, b []rune, i int) bool {
	start := int64(0)
	if (a[i] == '0' || b[i] == '0') && continuesNumber(a[:i]) {
		start = 1
	}
	aNumber, aEnd := number(a, i, start)
	bNumber, bEnd := number(b, i, start)
	switch {
	case aNumber != bNumber:
		return aNumber < bNumber
	case aEnd != bEnd:
		return aEnd < bEnd
	}
	return a[i] < b[i]
}

// continuesNumber reports whether text ends in digits that are not all zeros.
func continuesNumber(text []rune) bool {
	for j := len(text) - 1; j >= 0 && unicode.IsDigit(text[j]); j-- {
		if text[j] != '0' {
			return true
		}
	}
	return false
}

func number(text []rune, i int, n int64) (value int64, end int) {
	for end = i; end < len(text) && unicode.IsDigit(text[end]); end++ {
		n = n*10 + int64(text[end]-'0')
	}
	return n, end
}
