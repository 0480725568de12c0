package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A graph says what the packages of a target import. The standard library is no part of it.
type graph struct {
	root    string
	imports map[string][]string
}

func (t target) graph(ctx context.Context) (graph, error) {
	out, err := t.list(ctx, "-json=ImportPath,Imports,Standard").Output()
	if err != nil {
		return graph{}, fmt.Errorf("list packages: %w", err)
	}
	g := graph{imports: map[string][]string{}}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
			Standard   bool
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return g, nil
		}
		if err != nil {
			return graph{}, err
		}
		if !p.Standard {
			g.imports[p.ImportPath] = p.Imports
			g.root = p.ImportPath // the last one imports all the others
		}
	}
}

// cost is what compiling all packages takes.
func (g graph) cost(spent costs) (sum time.Duration) {
	for path := range g.imports {
		sum += spent[path]
	}
	return sum
}

// without are the packages that would be left if nobody imported one of them.
func (g graph) without(path string) graph {
	left := graph{g.root, map[string][]string{}}
	var visit func(string)
	visit = func(p string) {
		imports, ours := g.imports[p]
		if _, seen := left.imports[p]; seen || !ours || p == path {
			return
		}
		left.imports[p] = imports
		for _, i := range imports {
			visit(i)
		}
	}
	visit(g.root)
	return left
}

// tellCostliest lists the packages whose import brings the most, and whether the reference has them, too.
func tellCostliest(w io.Writer, n int, ours, reference graph, spent costs) {
	type line struct {
		path     string
		cost     time.Duration
		packages int
	}
	var lines []line
	for path := range ours.imports {
		left := ours.without(path)
		lines = append(lines, line{path, ours.cost(spent) - left.cost(spent), len(ours.imports) - len(left.imports)})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.path, b.path)) })
	fmt.Fprint(w, "\n| package, with all that only it brings | s | packages | in the reference |\n|---|---|---|---|\n")
	for _, l := range lines[:min(n, len(lines))] {
		_, shared := reference.imports[l.path]
		fmt.Fprintf(w, "| %s | %.1f | %d | %t |\n", l.path, l.cost.Seconds(), l.packages, shared)
	}
}
