package clusterspec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// Description is what a file says.
type Description struct {
	Spec Spec
	// Left are the parts of a configuration of kind that have no counterpart here, and so no effect.
	Left []report.Finding
}

// fromStdin is the path of a description on stdin.
const fromStdin = "-"

// Read reads the file at path, or stdin if that is "-". A mistake is a [report.Error] with its place.
func Read(path string, stdin io.Reader) (Description, error) {
	var text []byte
	var err error
	if path == fromStdin {
		path = "stdin"
		text, err = io.ReadAll(stdin)
	} else {
		text, err = safefs.ReadFile(path)
	}
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return Description{}, &report.Error{What: "the cluster's configuration cannot be read", Where: path, Err: err, Next: "slipway cluster start --help", Code: report.UsageCode}
	}
	return Parse(path, text)
}

// Parse reads text, a description of a cluster or a configuration of kind; path is for messages.
func Parse(path string, text []byte) (Description, error) {
	var d Description
	r := &reader{path: path}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, further yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return d, nil // nothing, or comments only
	case err != nil:
		return d, &report.Error{What: "the cluster's configuration is not valid YAML", Where: path, Code: report.UsageCode,
			Err: errors.New(strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	err := yamlsize.Check(text)
	if deep, ok := errors.AsType[*yamlsize.DepthError](err); ok {
		return d, &report.Error{What: fmt.Sprintf("the cluster's configuration is nested deeper than %d levels", yamlsize.Deepest), Where: fmt.Sprintf("%s:%d", path, deep.Line), Code: report.UsageCode}
	}
	if errors.Is(err, yamlsize.ErrGrowth) {
		return d, &report.Error{What: "the cluster's configuration is too large", Where: path, Code: report.UsageCode, Err: err, Hint: "replace the aliases by their contents"}
	}
	if root := document.Content[0]; isKindFile(root) {
		(&kindReader{r, &d.Spec}).file(root)
	} else {
		r.file(root, &d.Spec)
	}
	if decoder.Decode(&further) == nil && r.err == nil {
		r.fail(&further, "a second document", "one document", nil)
	}
	if r.err != nil {
		return Description{}, r.err
	}
	d.Left = r.left
	return d, nil
}

func (r *reader) file(n *yaml.Node, s *Spec) {
	known := fields{}
	for _, o := range Options() {
		if o.key != "" {
			known[o.key] = func(n *yaml.Node, at string) { r.option(o, n, at, s) }
		}
	}
	r.mapping(n, "", known)
}

// option reads an option into s. A file may be a repository's, so it cannot ask for what is for the command line, only
// refuse it.
func (r *reader) option(o Option, n *yaml.Node, at string, s *Spec) {
	if o.read != nil {
		o.read(r, n, at, s)
	}
	if o.flagOnly != "" && (o.read == nil || o.asks(*s)) {
		r.fail(n, at+": a cluster's configuration cannot "+o.flagOnly, onCommandLine("--"+o.Flag), nil)
	}
}

// nodeChoice reads the kind of the nodes. Plain nodes, whose pods read the user's files, are for the command line.
func (r *reader) nodeChoice(n *yaml.Node, at string) nodeChoice {
	kind := r.text(n, at)
	switch {
	case !slices.Contains(nodeKinds, kind):
		r.fail(n, fmt.Sprintf("%s: unknown kind of nodes %q", at, kind), suggestion(kind, nodeKinds), nil)
	case protocol.NodeKind(kind) == protocol.PlainNodes:
		r.fail(n, at+": a cluster's configuration cannot ask for plain nodes, whose pods are not isolated from this machine", onCommandLine("--nodes plain"), nil)
	}
	return nodeChoice{kind: protocol.NodeKind(kind), isolatedOnly: protocol.NodeKind(kind) == protocol.RealNodes}
}

// habit reads what becomes of simulated pods.
func (r *reader) habit(n *yaml.Node, at string) string {
	habit := r.text(n, at)
	r.check(n, at, checkHabit(habit))
	return habit
}

// controllers reads true, false, or a list, which may also be one text as the flag has it.
func (r *reader) controllers(n *yaml.Node, at string) *Controllers {
	var c Controllers
	var err error
	if resolved(n).Kind == yaml.SequenceNode {
		var list []string
		for i, item := range r.sequence(n, at) {
			list = append(list, r.text(item, index(at, i)))
		}
		if len(list) == 0 {
			r.wrong(n, at, "the names of controllers, true or false")
		} else {
			c, err = SelectControllers(list)
		}
	} else if resolved(n).Tag == "!!bool" {
		c.Run = r.boolean(n, at)
	} else {
		c, err = ParseControllers(r.text(n, at))
	}
	r.check(n, at, err)
	return &c
}

func (r *reader) apiServer(n *yaml.Node, at string) (flags []string) {
	r.mapping(n, at, fields{"flags": func(n *yaml.Node, at string) {
		for i, item := range r.sequence(n, at) {
			flag, err := parseFileFlag(r.text(item, index(at, i)))
			r.check(item, index(at, i), err)
			flags = append(flags, flag)
		}
	}})
	return flags
}

func (r *reader) nodes(n *yaml.Node, at string) []protocol.Node {
	nodes := []protocol.Node{}
	seen := map[string]bool{}
	for i, item := range r.sequence(n, at) {
		node := r.node(item, index(at, i))
		r.check(item, index(at, i), CheckNode(node))
		if seen[node.Name] {
			r.check(item, index(at, i), fmt.Errorf("a second node named %s", node.Name))
		}
		seen[node.Name] = true
		nodes = append(nodes, node)
	}
	return nodes
}

func (r *reader) node(n *yaml.Node, at string) (node protocol.Node) {
	r.mapping(n, at, fields{
		"name":   func(n *yaml.Node, at string) { node.Name = r.text(n, at) },
		"labels": func(n *yaml.Node, at string) { node.Labels = r.checked(n, at, checkLabel) },
		"taints": func(n *yaml.Node, at string) {
			for i, item := range r.sequence(n, at) {
				taint := r.text(item, index(at, i))
				r.check(item, index(at, i), checkTaint(taint))
				node.Taints = append(node.Taints, taint)
			}
		},
		"capacity": func(n *yaml.Node, at string) { node.Capacity = r.checked(n, at, checkCapacity) },
	})
	return node
}
