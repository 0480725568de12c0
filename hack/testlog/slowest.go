package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// list prints the tests of a log that took longest.
func list(out io.Writer, log string, many int) error {
	file, err := os.Open(log)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = fmt.Fprintln(out, "no run is written down: make check and make test do that")
		return err
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var all []event
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("%s: %w", log, err)
		}
		all = append(all, e)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range slowest(all, many) {
		fmt.Fprintf(table, "%.1fs\t%s\t%s\t%s\n", e.Elapsed, e.Action, e.Package, e.Test)
	}
	return table.Flush()
}

// slowest are the tests that took longest. One that has subtests is not among them: its time is theirs.
func slowest(all []event, many int) []event {
	parents := map[place]bool{}
	for _, e := range all {
		for test, ok := cutLast(e.Test); ok; test, ok = cutLast(test) {
			parents[place{e.Package, test}] = true
		}
	}
	tests := slices.DeleteFunc(slices.Clone(all), func(e event) bool { return e.Test == "" || parents[place{e.Package, e.Test}] })
	slices.SortStableFunc(tests, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	return tests[:min(many, len(tests))]
}

// cutLast takes the last part off a subtest's name.
func cutLast(test string) (parent string, ok bool) {
	i := strings.LastIndexByte(test, '/')
	return test[:max(i, 0)], i > 0
}
