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

// record adds a pass to a file.
func record(file string, p pass) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(p), f.Close())
}

// lastPasses returns the last pass of each part that a file has any of.
func lastPasses(file string) (map[string]pass, error) {
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
			return nil, fmt.Errorf("%s: %w", file, err)
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
