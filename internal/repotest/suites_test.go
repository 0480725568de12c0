package repotest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sleepers are the tests that may sleep, and why. Those of testing/synctest have a clock of their own.
var sleepers = map[string]string{
	"operator/clustertest/internal/session/session_test.go": "a process that takes its time to end is what is tested",
}

// TestNoTestSleeps: time says nothing of what another process or goroutine has done by then.
func TestNoTestSleeps(t *testing.T) {
	for name, text := range testFiles(t) {
		if strings.HasSuffix(name, ".go") && strings.Contains(text, "time."+"Sleep(") && !strings.Contains(text, `"testing/synctest"`) && sleepers[name] == "" {
			t.Errorf("%s sleeps: wait for what is to happen", name)
		}
	}
}

// TestSkippedTestsNameTheirPart: a test that make test leaves out names the part of make test-long that runs it, or
// make lint, and the Makefile has that target.
func TestSkippedTestsNameTheirPart(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	skip := regexp.MustCompile(`testing\.Short\(\) \{\n(.*)|\[short\] (.*)`)
	part := regexp.MustCompile(`long: make (test-long-[a-z]+|lint)`)
	found := 0
	for name, text := range testFiles(t) {
		for _, match := range skip.FindAllString(text, -1) {
			found++
			said := part.FindStringSubmatch(match)
			if said == nil || !strings.Contains(string(makefile), "\n"+said[1]+":") {
				t.Errorf("%s: no target that runs it is named in %q", name, match)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d tests are left out", found)
	}
}

// TestLongPartsAreWrittenDown: each part of the long tests ends by writing down that it has passed.
func TestLongPartsAreWrittenDown(t *testing.T) {
	parts := regexp.MustCompile(`(?m)^(test-long-[a-z]+):.*\n((?:\t.*\n)+)`).FindAllStringSubmatch(readText(t, "Makefile"), -1)
	if len(parts) < 10 {
		t.Errorf("found only %d parts", len(parts))
	}
	for _, part := range parts {
		if !strings.HasSuffix(part[2], "\t$(PASSED)\n") {
			t.Errorf("the recipe of %s does not end with $(PASSED)", part[1])
		}
	}
}

// testFiles are the texts of tests and scripts, but for these rules, by their paths below the root. Folders that begin
// with a dot, such as that of an unfinished release, are not ours.
func testFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && file != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, ".txtar") {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if name = filepath.ToSlash(name); name != "internal/repotest/suites_test.go" {
			texts[name] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
