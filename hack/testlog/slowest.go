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
	all, err := readLog(log)
	if err != nil {
		return err
	}
	if all == nil {
		_, err := fmt.Fprintln(out, "no run is written down: make check and make test do that")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range slowest(all, many) {
		fmt.Fprintf(table, "%.1fs\t%s\t%s\t%s\n", e.Elapsed, e.Action, e.Package, e.Test)
	}
	return table.Flush()
}

// readLog returns how the tests of a log ended; nothing if there is no log.
func readLog(log string) ([]event, error) {
	file, err := os.Open(log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []event
	for events := json.NewDecoder(bufio.NewReader(file)); ; {
		var e event
		if err := events.Decode(&e); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", log, err)
		}
		if e.Action != "output" {
			all = append(all, e)
		}
	}
}

// slowest are the tests that took longest.
func slowest(all []event, many int) []event {
	tests := leaves(all)
	slices.SortStableFunc(tests, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	return tests[:min(many, len(tests))]
}

// leaves are the tests without subtests: the time of others is that of their subtests, and they pass also if all of
// these are skipped.
func leaves(all []event) []event {
	parents := map[place]bool{}
	for _, e := range all {
		for test, ok := cutLast(e.Test); ok; test, ok = cutLast(test) {
			parents[place{e.Package, test}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(e event) bool { return e.Test == "" || parents[place{e.Package, e.Test}] })
}

// cutLast takes the last part off a subtest's name.
func cutLast(test string) (parent string, ok bool) {
	i := strings.LastIndexByte(test, '/')
	return test[:max(i, 0)], i > 0
}
