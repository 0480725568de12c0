package prove

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// names knows which names of objects, and of the items of lists in them, are the same in each run. The others have
// parts that are made at random, and are known by the rest.
type names struct {
	stable   map[string]bool     // NAMESPACE/NAME; of the items of lists, [LIST]/NAME
	patterns map[string][]string // by namespace: names of before, with * for each part that differs from run to run
}

// learnNames compares the names in two runs, as NAMESPACE/NAME.
func learnNames(first, second map[string]bool) names {
	n := names{stable: map[string]bool{}, patterns: map[string][]string{}}
	for name := range first {
		if second[name] {
			n.stable[name] = true
		}
	}
	for name := range first {
		if n.stable[name] {
			continue
		}
		if namespace, pattern := pair(name, second); pattern != "" && !slices.Contains(n.patterns[namespace], pattern) {
			n.patterns[namespace] = append(n.patterns[namespace], pattern)
		}
	}
	for _, patterns := range n.patterns { // those with the fewest random parts first
		slices.SortFunc(patterns, func(a, b string) int {
			if d := strings.Count(a, "*") - strings.Count(b, "*"); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
	}
	return n
}

// pair is the name in the other run that differs in the fewest parts, as a pattern; "" if there is none.
func pair(name string, others map[string]bool) (namespace, pattern string) {
	namespace, own, _ := strings.Cut(name, "/")
	parts := strings.Split(own, "-")
	best := len(parts)
	for other := range others {
		elsewhere, theirs, _ := strings.Cut(other, "/")
		others := strings.Split(theirs, "-")
		if elsewhere != namespace || len(others) != len(parts) || others[0] != parts[0] {
			continue
		}
		candidate, differs := slices.Clone(parts), 0
		for i := range parts {
			if parts[i] != others[i] {
				candidate[i] = "*"
				differs++
			}
		}
		if text := strings.Join(candidate, "-"); differs < best || differs == best && text < pattern {
			best, pattern = differs, text
		}
	}
	return namespace, pattern
}

// canonical is a name, with * for each part that is made at random.
func (n names) canonical(namespace, name string) string {
	if name == "" || n.stable == nil || n.stable[namespace+"/"+name] || strings.Contains(name, "*") {
		return name
	}
	return cmp.Or(n.drawn(namespace, name), beginning(name))
}

// drawn is the pattern of a name that is made at random, as far as that is known; "" if it is none.
func (n names) drawn(namespace, name string) string {
	if n.stable[namespace+"/"+name] {
		return ""
	}
	parts := strings.Split(name, "-")
	for _, pattern := range n.patterns[namespace] {
		if fixed := strings.Split(pattern, "-"); len(fixed) == len(parts) && fits(parts, fixed) {
			return pattern
		}
	}
	return ""
}

func fits(parts, pattern []string) bool {
	for i := range parts {
		if pattern[i] != "*" && pattern[i] != parts[i] {
			return false
		}
	}
	return true
}

// beginning is what is before the last part of a name, and "*".
func beginning(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		return name[:i+1] + "*"
	}
	return "*"
}

// prefix is a canonical name as doors match it: up to the first part that is made at random.
func prefix(canonical string) string {
	if i := strings.IndexByte(canonical, '*'); i >= 0 {
		return canonical[:i+1]
	}
	return canonical
}

// digest stands for a text that is not shown. Without the key nobody can try texts.
func digest(key []byte, text string) string {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(text))
	return "hidden:" + hex.EncodeToString(sum.Sum(nil)[:6])
}
