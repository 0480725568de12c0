package project

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An editing writes what differs between two documents into the text of the first one, line by line. All other lines
// stay as they are.
type editing struct {
	lines   []string // each with its line end
	newline string
	compact bool // lists begin below their key, not to the right of it
}

// edited returns src, which holds the document before, with the entries of now. Text in a form that cannot be edited by
// lines, such as a mapping in braces, is written anew.
func edited(src []byte, before, now *yaml.Node) ([]byte, error) {
	if strings.ContainsAny(strings.ReplaceAll(string(src), "\r\n", "\n"), "\r\u0085\u2028\u2029") { // ends of lines for YAML alone
		return encode(now, compactLists(before))
	}
	e := &editing{lines: slices.Collect(strings.Lines(string(src))), newline: "\n", compact: compactLists(before)}
	if strings.HasSuffix(e.lines[0], "\r\n") {
		e.newline = "\r\n"
	}
	if out, ok := e.mapping(before.Content[0], now.Content[0], 0, len(e.lines)); ok {
		for i, line := range out[:len(out)-1] {
			if !strings.HasSuffix(line, "\n") {
				out[i] = line + e.newline
			}
		}
		text := []byte(strings.Join(out, ""))
		if got, err := decodeDocument(FileName, text); err == nil && sameNode(got.Content[0], now.Content[0]) {
			return text, nil
		}
	}
	return encode(now, compactLists(before))
}

// encode writes a document, or a part of one, anew.
func encode(n *yaml.Node, compact bool) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if compact {
		enc.CompactSeqIndent()
	}
	if err := enc.Encode(n); err != nil {
		return nil, fmt.Errorf("write %s: %w", FileName, err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write %s: %w", FileName, err)
	}
	return b.Bytes(), nil
}

// compactLists reports whether the first list of a document begins in the column of its key.
func compactLists(n *yaml.Node) bool {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.SequenceNode && isBlock(child) {
			return child.Column == n.Content[i-1].Column
		}
		if !compactLists(child) {
			return false
		}
	}
	return true
}

// isBlock reports whether a mapping or a list has a line, or several, for each entry.
func isBlock(n *yaml.Node) bool { return n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 }

// A part is an entry of a mapping or an item of a list: its nodes, and its lines, from the first to the one after the
// last.
type part struct {
	nodes    []*yaml.Node
	from, to int
}

// parts are those of a mapping or list whose text ends before a line. Comments that are indented as it is are outside
// of its parts, and deeper ones inside.
func (e *editing) parts(n *yaml.Node, to int) (all []part) {
	for nodes := range slices.Chunk(n.Content, size(n)) {
		all = append(all, part{nodes: nodes, from: nodes[0].Line - 1})
	}
	for i := range all {
		end := to
		if i+1 < len(all) {
			end = all[i+1].from
		}
		for end > all[i].from+1 && isOutside(e.lines[end-1], n.Column) {
			end--
		}
		all[i].to = end
	}
	return all
}

// size is how many nodes a part of a mapping or list has.
func size(n *yaml.Node) int {
	if n.Kind == yaml.MappingNode {
		return 2
	}
	return 1
}

// isOutside reports whether a line is empty, or a comment left of a column or in it.
func isOutside(line string, column int) bool {
	text := strings.TrimLeft(line, " ")
	return strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") && len(line)-len(text) < column
}

// mapping is the text between two lines that hold a mapping, with the entries of now.
func (e *editing) mapping(before, now *yaml.Node, from, to int) ([]string, bool) {
	return e.edit(before, now, from, to, func(old, new part) bool { return old.nodes[0].Value == new.nodes[0].Value })
}

// list is the same of a list.
func (e *editing) list(before, now *yaml.Node, from, to int) ([]string, bool) {
	return e.edit(before, now, from, to, func(old, new part) bool {
		a, b := old.nodes[0], new.nodes[0]
		return a.Line == b.Line && a.Column == b.Column || sameNode(a, b)
	})
}

// edit is the text of a mapping or list with the parts of now. Is reports whether two parts are about the same. It
// fails where parts that stay changed their order.
func (e *editing) edit(before, now *yaml.Node, from, to int, is func(old, new part) bool) (out []string, ok bool) {
	old := e.parts(before, to)
	at, kept := from, 0
	if out = append(out, e.lines[from:old[0].from]...); len(out) > 0 {
		at = old[0].from
	}
	leave := func(p part) { // what is before a part that goes stays, but for comments right above it
		gap := e.lines[at:p.from]
		for len(gap) > 0 && strings.TrimSpace(gap[len(gap)-1]) != "" {
			gap = gap[:len(gap)-1]
		}
		out, at = append(out, gap...), p.to
	}
	for nodes := range slices.Chunk(now.Content, size(now)) {
		stays := slices.IndexFunc(old, func(p part) bool { return is(p, part{nodes: nodes}) })
		if stays < 0 {
			out = append(out, e.render(before, nodes)...)
			continue
		}
		if stays < kept {
			return nil, false
		}
		for _, p := range old[kept:stays] {
			leave(p)
		}
		p := old[stays]
		out = append(append(out, e.lines[at:p.from]...), e.part(before, p, nodes)...)
		at, kept = p.to, stays+1
	}
	for _, p := range old[kept:] {
		leave(p)
	}
	return append(out, e.lines[at:to]...), true
}

// part is the text of a part that stays, with other content.
func (e *editing) part(of *yaml.Node, p part, nodes []*yaml.Node) []string {
	before, now := p.nodes[len(p.nodes)-1], nodes[len(nodes)-1]
	if sameNode(before, now) {
		return e.lines[p.from:p.to]
	}
	from := before.Line - 1
	if before.Kind == now.Kind && before.Kind != yaml.ScalarNode && isBlock(before) && len(now.Content) > 0 {
		var out []string
		var ok bool
		switch {
		case of.Kind == yaml.SequenceNode:
			out, ok = e.item(of, before, now, p)
		case now.Kind == yaml.SequenceNode:
			out, ok = e.list(before, now, from, p.to)
		default:
			out, ok = e.mapping(before, now, from, p.to)
		}
		if ok {
			return append(slices.Clone(e.lines[p.from:from]), out...)
		}
	}
	return e.render(of, nodes)
}

// item is the text of a mapping in a list. Its dash is before its first key, whichever that is.
func (e *editing) item(of, before, now *yaml.Node, p part) ([]string, bool) {
	dash := of.Column - 1
	first := e.lines[p.from]
	if before.Kind != yaml.MappingNode || len(first) <= dash || first[dash] != '-' {
		return nil, false
	}
	e.lines[p.from] = first[:dash] + " " + first[dash+1:]
	out, ok := e.mapping(before, now, p.from, p.to)
	e.lines[p.from] = first
	if !ok || len(out) == 0 || len(out[0]) <= dash {
		return nil, false
	}
	out = slices.Clone(out)
	out[0] = out[0][:dash] + "-" + out[0][dash+1:]
	return out, true
}

// render is the text of a part in a mapping or list.
func (e *editing) render(of *yaml.Node, nodes []*yaml.Node) (lines []string) {
	whole := yaml.Node{Kind: of.Kind, Tag: of.Tag}
	for _, n := range nodes {
		n = cloneNode(n)
		n.HeadComment, n.FootComment = "", ""
		whole.Content = append(whole.Content, n)
	}
	text, err := encode(&whole, e.compact)
	if err != nil {
		return nil // the result is then not what was to be written, and the document is encoded as a whole
	}
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.Repeat(" ", of.Column-1)+strings.TrimSuffix(line, "\n")+e.newline)
	}
	return lines
}
