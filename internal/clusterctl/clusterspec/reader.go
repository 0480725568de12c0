package clusterspec

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// reader takes typed values out of YAML and keeps the first mistake, and what has no effect.
type reader struct {
	path string
	err  error
	left []report.Finding // what has no effect
}

// fields maps the keys of a mapping to what reads their values; at is the value's path in the file.
type fields map[string]func(n *yaml.Node, at string)

// mistake is something that a value cannot be, with what was expected instead.
type mistake struct{ problem, expected string }

func (m *mistake) Error() string { return m.problem }

// fail keeps a mistake at n.
func (r *reader) fail(n *yaml.Node, problem, expected string, err error) {
	if r.err != nil {
		return
	}
	where := report.Position{File: r.path, Line: n.Line, Column: n.Column}
	r.err = &report.Error{What: problem, Where: where.String(), Hint: expected, Err: err, Code: report.UsageCode}
}

// check keeps err, if it is one, as a mistake in the value of the key at.
func (r *reader) check(n *yaml.Node, at string, err error) {
	if err == nil {
		return
	}
	r.fail(n, at+": "+err.Error(), expected(err), nil)
}

// wrong keeps that the value of the key at is of another kind than expected.
func (r *reader) wrong(n *yaml.Node, at, expected string) {
	if at == "" {
		at = "the file"
	}
	r.fail(n, fmt.Sprintf("%s is %s", at, kind(n)), "expected "+expected, nil)
}

func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	}
	return strconv.Quote(n.Value)
}

// mapping reads a mapping whose keys are known.
func (r *reader) mapping(n *yaml.Node, at string, known fields) {
	r.pairs(n, at, func(key, value *yaml.Node, at string) {
		read, ok := known[key.Value]
		if !ok {
			names := slices.Sorted(maps.Keys(known))
			r.fail(key, "unknown key "+at, suggestion(key.Value, names), nil)
			return
		}
		read(value, at)
	})
}

// pairs calls f for every key of a mapping, with the path of its value, until there is a mistake.
func (r *reader) pairs(n *yaml.Node, at string, f func(key, value *yaml.Node, at string)) {
	n = resolved(n)
	if n.Kind != yaml.MappingNode {
		r.wrong(n, at, "a mapping, `key: value`")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content) && r.err == nil; i += 2 {
		key := n.Content[i]
		path := strings.TrimPrefix(at+"."+key.Value, ".")
		if seen[key.Value] {
			r.fail(key, path+" occurs twice", "", nil)
		}
		seen[key.Value] = true
		f(key, n.Content[i+1], path)
	}
}

// sequence returns the items of a list, up to the first mistake in one.
func (r *reader) sequence(n *yaml.Node, at string) iter.Seq2[int, *yaml.Node] {
	n = resolved(n)
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, at, "a list, `- item` on each line or [item, item]")
	}
	return func(yield func(int, *yaml.Node) bool) {
		for i, item := range n.Content {
			if r.err != nil || !yield(i, item) {
				return
			}
		}
	}
}

// text reads a scalar as it is written: a number or true is text, too.
func (r *reader) text(n *yaml.Node, at string) string {
	n = resolved(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.wrong(n, at, "a text")
		return ""
	}
	return n.Value
}

func (r *reader) boolean(n *yaml.Node, at string) (value bool) {
	n = resolved(n)
	if n.Tag != "!!bool" || n.Decode(&value) != nil {
		r.wrong(n, at, "true or false")
	}
	return value
}

// switched is boolean for a field in which nil means that nothing is asked for.
func (r *reader) switched(n *yaml.Node, at string) *bool { return new(r.boolean(n, at)) }

func (r *reader) port(n *yaml.Node, at string) (value int) {
	n = resolved(n)
	if n.Tag != "!!int" || n.Decode(&value) != nil || value < 0 || value > maxPort {
		r.wrong(n, at, "a port from 1 to 65535, or 0 for a free one")
	}
	return value
}

func (r *reader) bools(n *yaml.Node, at string) map[string]bool {
	all := map[string]bool{}
	r.pairs(n, at, func(key, value *yaml.Node, at string) { all[key.Value] = r.boolean(value, at) })
	return all
}

func (r *reader) texts(n *yaml.Node, at string) map[string]string {
	return r.checked(n, at, func(string, string) error { return nil })
}

// checked reads a mapping of texts each of which has to pass check.
func (r *reader) checked(n *yaml.Node, at string, check func(key, value string) error) map[string]string {
	all := map[string]string{}
	r.pairs(n, at, func(key, value *yaml.Node, at string) {
		all[key.Value] = r.text(value, at)
		r.check(value, at, check(key.Value, all[key.Value]))
	})
	return all
}

// resolved follows an alias to its anchor.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func index(at string, i int) string { return fmt.Sprintf("%s[%d]", at, i) }

// suggestion names the known word that was most likely meant, or all of them.
func suggestion(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are " + strings.Join(known, ", ")
}

// nearest returns the known word that is most likely meant by word, or nothing.
func nearest(word string, known []string) string {
	return spelling.Nearest(word, known, min(3, len(word)-1))
}
