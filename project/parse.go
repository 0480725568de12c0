package project

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Parse reads the content of a PROJECT file; name is the file's name in errors.
// A file that is not YAML, not a mapping, or holds a value of the wrong type or
// an unusable name gives a [*FieldError] with its place.
func Parse(name string, data []byte) (*Project, error) {
	doc, err := decodeDocument(name, data)
	if err != nil {
		return nil, err
	}
	r := &reader{file: name}
	p := r.project(doc.Content[0])
	if r.err != nil {
		return nil, r.err
	}
	p.doc, p.src = doc, data
	return p, nil
}

// decodeDocument parses data as exactly one YAML document that holds a mapping.
func decodeDocument(name string, data []byte) (*yaml.Node, error) {
	if line := conflict(data); line > 0 {
		return nil, &FieldError{File: name, Line: line, Column: 1, Problem: "has conflict markers of a merge", Expected: "one side, or both combined, without the lines <<<<<<<, ======= and >>>>>>>"}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &FieldError{File: name, Problem: "is empty", Expected: "a project description that starts with its domain and version"}
	case err != nil:
		return nil, syntaxError(name, err)
	}
	if err := dec.Decode(&next); err == nil {
		return nil, &FieldError{File: name, Line: next.Line, Column: 1, Problem: "holds more than one YAML document", Expected: "one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(name, err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &FieldError{File: name, Line: root.Line, Column: root.Column, Problem: "is not a mapping", Expected: "lines of the form `key: value`"}
	}
	if n := findAlias(root); n != nil {
		return nil, &FieldError{File: name, Line: n.Line, Column: n.Column, Problem: "uses a YAML alias", Expected: "the value itself"}
	}
	return &doc, nil
}

// conflict returns the first line that version control marks a conflict with, or 0.
func conflict(data []byte) int {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		for _, mark := range []string{"<<<<<<< ", "||||||| ", ">>>>>>> "} {
			if bytes.HasPrefix(text, []byte(mark)) {
				return line
			}
		}
	}
	return 0
}

// findAlias returns the first alias below n: rewriting a file with shared parts
// would change more places than was asked for, and aliases can form cycles.
func findAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, child := range n.Content {
		if found := findAlias(child); found != nil {
			return found
		}
	}
	return nil
}

var yamlLine = lazy.Regexp(`line (\d+): (.*)`)

// syntaxError gives an error of the YAML parser its place; the parser tells the
// line only in its text.
func syntaxError(name string, err error) error {
	e := &FieldError{File: name, Problem: "is not valid YAML: " + err.Error(), Expected: "lines of the form `key: value`"}
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // digits by the pattern; 0 means unknown
		e.Column = 1
		e.Problem = "is not valid YAML: " + m[2]
	}
	return e
}
