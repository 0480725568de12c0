package delivery

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/operation"
)

// TestDefinitionsArePruned: writing definitions removes files that were not used for long, and the oldest of too many.
func TestDefinitionsArePruned(t *testing.T) {
	cache := t.TempDir()
	s := &operation.Session{Getenv: func(name string) string { return map[string]string{"SLIPWAY_CACHE": cache}[name] }}
	object := func(name string) []*unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetName(name)
		return []*unstructured.Unstructured{o}
	}
	write := func(name string) string {
		path, err := WriteDefinitions(s, object(name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	used, forgotten := write("used"), write("forgotten")
	dir, now := filepath.Dir(used), time.Now()
	old := func(path string, age time.Duration) {
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	old(used, forgottenDefinitions+time.Hour)
	old(forgotten, forgottenDefinitions+time.Hour)
	var many []string
	for i := range mostDefinitions + 3 {
		path := filepath.Join(dir, fmt.Sprintf("%064d.yaml", i))
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		old(path, 2*recentDefinitions+time.Duration(i)*time.Minute)
		many = append(many, path)
	}
	if again := write("used"); again != used {
		t.Errorf("the same definitions are at %s and %s", used, again)
	}
	mine := filepath.Join(dir, "mine.yaml") // the cache may be any folder
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	old(mine, 2*forgottenDefinitions)
	latest := write("new")
	for _, path := range append([]string{used, latest, mine}, many[:mostDefinitions-2]...) {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("gone although it is used: %v", err)
		}
	}
	for _, path := range append([]string{forgotten}, many[mostDefinitions-2:]...) {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

// TestRecentDefinitionsStay: suites may still read those of the last day, however many they are.
func TestRecentDefinitionsStay(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 * mostDefinitions {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%064d.yaml", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pruneDefinitions(dir, time.Now().Add(recentDefinitions-time.Hour))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2*mostDefinitions {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	pruneDefinitions(dir, time.Now().Add(recentDefinitions+time.Hour))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != mostDefinitions {
		t.Errorf("%d files are left a day later, %v", len(entries), err)
	}
}
