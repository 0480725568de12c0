package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// week is how many days of commits a part of the long tests may miss.
const week = 7 * 24 * time.Hour

// A pass is a run of a part of the long tests in which all went well.
type pass struct {
	Part   string
	Ended  time.Time
	Commit commit
}

// A commit is a state of the repository.
type commit struct {
	Hash string
	Made time.Time
}

// partsFile returns the file of passes. It is the user's, not the checkout's: a fresh clone knows them too.
func partsFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "slipway-tests", "parts.jsonl"), nil
}

// head returns the commit that a folder's repository is at.
func head(ctx context.Context, dir string) (commit, error) {
	cmd := exec.CommandContext(ctx, "git", "log", "-1", "--format=%H %cI")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return commit{}, fmt.Errorf("git log: %w", err)
	}
	hash, date, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	made, err := time.Parse(time.RFC3339, date)
	return commit{hash, made}, err
}

// notePass writes down that a part has passed, unless all of its tests were skipped. A part has passed even if that
// cannot be written down, as without a home folder.
func notePass(ctx context.Context, out io.Writer, o options) error {
	skipped, err := onlySkips(o.log)
	if err != nil {
		return err
	}
	if skipped {
		fmt.Fprintf(out, "every test of test-long-%s was skipped: it does not count as passed\n", o.passed)
	} else if err := recordHere(ctx, o.dir, o.passed); err != nil {
		fmt.Fprintf(out, "test-long-%s has passed, which cannot be written down for make test-times: %v\n", o.passed, err)
	}
	return addLine(o.log, event{Action: partEnd})
}

// partEnd is the action of the line that ends the tests of a part in a log, which may have several parts.
const partEnd = "part"

// onlySkips reports whether tests of the last part in a log were skipped, and all of them. A part without any runs
// something else.
func onlySkips(log string) (bool, error) {
	all, err := readLog(log)
	last := 0
	for i, e := range all {
		if e.Action == partEnd {
			last = i
		}
	}
	tests := leaves(all[last:])
	return len(tests) > 0 && !slices.ContainsFunc(tests, func(e event) bool { return e.Action != "skip" }), err
}

// recordHere writes down that a part has passed at the commit of a folder.
func recordHere(ctx context.Context, dir, part string) error {
	file, err := partsFile()
	if err != nil {
		return err
	}
	now, err := head(ctx, dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return addLine(file, pass{part, time.Now(), now})
}

// addLine adds a value to a file, as a line of JSON.
func addLine(file string, value any) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(value), f.Close())
}

// showParts lists when parts passed last.
func showParts(ctx context.Context, out io.Writer, dir string, parts []string) error {
	file, err := partsFile()
	if err != nil {
		return err
	}
	now, err := head(ctx, dir)
	if err != nil {
		return err
	}
	last, err := lastPasses(out, file)
	if err != nil {
		return err
	}
	return listParts(out, last, parts, now)
}

// lastPasses returns the last pass of each part that a file has any of. It names lines that are none and leaves them
// out.
func lastPasses(out io.Writer, file string) (map[string]pass, error) {
	last := map[string]pass{}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p pass
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			fmt.Fprintf(out, "%s: %q is no pass: %v\n", file, lines.Text(), err)
			continue
		}
		last[p.Part] = p
	}
	return last, lines.Err()
}

// listParts prints when and where each part passed last, and which of them commits of more than a week have been made
// since.
func listParts(out io.Writer, last map[string]pass, parts []string, now commit) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, part := range parts {
		p, ok := last[part]
		when := "has not passed on this machine"
		if ok {
			when = fmt.Sprintf("passed on %s at %.12s", p.Ended.Format(time.DateOnly), p.Commit.Hash)
		}
		note := ""
		if !ok || now.Made.Sub(p.Commit.Made) > week {
			note = "due: make test-long-" + part
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", part, when, note)
	}
	return table.Flush()
}
