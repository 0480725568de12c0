package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The longest that the house allows, in lines of code.
const (
	longestFile     = 400
	longestFunction = 60
)

// counts are sums of lines.
type counts struct {
	code     int // with more than blanks and comments
	comments int // with comments alone
	tests    int // all lines of tests, scripts and their data
}

// tree is what was counted.
type tree struct {
	packages map[string]counts
	long     []string // files and functions that are longer than allowed
}

// read counts the files below a folder.
func (t *tree) read(root string, depth int) error {
	if t.packages == nil {
		t.packages = make(map[string]counts)
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		return t.file(filepath.ToSlash(path), depth)
	})
}

// file counts one file.
func (t *tree) file(path string, depth int) error {
	isGo, data := strings.HasSuffix(path, ".go"), strings.Contains(path, "/testdata/")
	if !isGo && !data {
		return nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := packageOf(path, depth)
	sum := t.packages[name]
	defer func() { t.packages[name] = sum }()
	if data || strings.HasSuffix(path, "_test.go") {
		sum.tests += bytes.Count(src, []byte("\n"))
		return nil
	}
	code, comments := linesOf(src)
	sum.code += code
	sum.comments += comments
	if code > longestFile {
		t.long = append(t.long, fmt.Sprintf("%s: %d lines", path, code))
	}
	return t.functions(path, src)
}

// packageOf is the folder that a file is counted for.
func packageOf(path string, depth int) string {
	before, _, _ := strings.Cut(path, "/testdata/")
	if before == path {
		before = filepath.ToSlash(filepath.Dir(path))
	}
	folders := strings.Split(before, "/")
	if depth > 0 && len(folders) > depth {
		folders = folders[:depth]
	}
	return strings.Join(folders, "/")
}

// linesOf counts lines with code, and those with comments alone.
func linesOf(src []byte) (code, comments int) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	coded, commented := map[int]bool{}, map[int]bool{}
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind == token.SEMICOLON && text == "\n" {
			continue
		}
		lines := coded
		if kind == token.COMMENT {
			lines = commented
		}
		first := file.Line(pos)
		for i := range strings.Count(text, "\n") + 1 {
			lines[first+i] = true
		}
	}
	for line := range commented {
		if !coded[line] {
			comments++
		}
	}
	return len(coded), comments
}

// functions notes those that are too long.
func (t *tree) functions(path string, src []byte) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		function, is := declaration.(*ast.FuncDecl)
		if !is {
			continue
		}
		from, to := fset.Position(function.Pos()), fset.Position(function.End())
		code, _ := linesOf(src[from.Offset:to.Offset])
		if code > longestFunction {
			t.long = append(t.long, fmt.Sprintf("%s:%d: %s: %d lines", path, from.Line, function.Name.Name, code))
		}
	}
	return nil
}

// print writes the table, the largest package first, and what is too long.
func (t *tree) print(w io.Writer) {
	names := slices.SortedFunc(maps.Keys(t.packages), func(a, b string) int {
		if d := t.packages[b].code - t.packages[a].code; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var all counts
	fmt.Fprintln(w, "| package | code | comments | tests and scripts |\n|---|---:|---:|---:|")
	for _, name := range names {
		c := t.packages[name]
		fmt.Fprintf(w, "| %s | %d | %d | %d |\n", name, c.code, c.comments, c.tests)
		all.code, all.comments, all.tests = all.code+c.code, all.comments+c.comments, all.tests+c.tests
	}
	fmt.Fprintf(w, "| **all** | %d | %d | %d |\n", all.code, all.comments, all.tests)
	if len(t.long) > 0 {
		fmt.Fprintf(w, "\nLonger than %d lines a file or %d a function:\n\n", longestFile, longestFunction)
	}
	for _, line := range t.long {
		fmt.Fprintln(w, "- "+line)
	}
}
