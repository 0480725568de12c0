package wiring_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The modules whose files comments may name without saying the module, by the paths that they begin with.
const (
	kubernetes = "k8s.io/kubernetes"
	etcdServer = "go.etcd.io/etcd/server/v3"
)

// upstream finds files in the modules that this one requires.
type upstream struct {
	modules map[string]module // those that were asked for
	cache   string            // where the go command keeps modules
}

type module struct{ Path, Version, Dir string }

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{modules: map[string]module{}, cache: strings.TrimSpace(string(cache))}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-json", kubernetes, etcdServer,
		"k8s.io/apiserver", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/kubectl", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var m module
		if err := decoder.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Dir == "" {
			t.Fatalf("%s is not downloaded: go mod download %s", m.Path, m.Path)
		}
		u.modules[m.Path] = m
	}
	return u
}

// module is the module that a file, named with its module, belongs to; empty when it is none of those.
func (u *upstream) module(file string) (longest string) {
	for name := range u.modules {
		if strings.HasPrefix(file, name+"/") && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

func (u *upstream) version(module string) string { return u.modules[module].Version }

// path is where a file of a version of its module lies once that is downloaded.
func (u *upstream) path(file, version string) string {
	name := u.module(file)
	return filepath.Join(u.cache, filepath.FromSlash(name)+"@"+version, strings.TrimPrefix(file, name))
}

func (u *upstream) local(file string) string {
	name := u.module(file)
	return filepath.Join(u.modules[name].Dir, strings.TrimPrefix(file, name))
}

func (u *upstream) has(file string) bool {
	if u.module(file) == "" {
		return false
	}
	_, err := os.Stat(u.local(file))
	return err == nil
}

func (u *upstream) sum(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(u.local(file))
	if err != nil {
		t.Fatal(err)
	}
	return hash(data)
}

// complete names a file with its module. Comments leave out k8s.io/kubernetes, and name etcd's files as its repository
// does.
func (u *upstream) complete(file string) (string, bool) {
	for _, candidate := range []string{file, kubernetes + "/" + file, etcdServer + "/" + strings.TrimPrefix(file, "server/")} {
		if u.has(candidate) {
			return candidate, true
		}
	}
	return file, false
}

var goFile = regexp.MustCompile(`[\w.-]+(?:/[\w.-]+)*\.go\b`)

// named lists the files of upstream that the comments of a Go file name: with a path, or without one where
// a neighbour was named before in the same comment.
func named(file string, u *upstream) (files, strange []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	for _, comment := range parsed.Comments {
		dir := ""
		for _, name := range goFile.FindAllString(comment.Text(), -1) {
			if !strings.Contains(name, "/") {
				if neighbour := path.Join(dir, name); dir != "" && u.has(neighbour) {
					files = append(files, neighbour)
				}
				continue
			}
			complete, ok := u.complete(name)
			if !ok {
				strange = append(strange, name)
				continue
			}
			files, dir = append(files, complete), path.Dir(complete)
		}
	}
	return files, strange, nil
}
