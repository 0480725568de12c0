//go:build unix

package kustomization

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/kustomizefs"
	"github.com/slipway-dev/slipway/internal/report"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fetched}\n"

// A server counts what it is asked for.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// serve starts a server with files by their paths, and one that has no end.
func serve(t *testing.T, files map[string]string) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		text, ok := files[r.URL.Path]
		switch {
		case r.URL.Path == "/endless.yaml":
			for { // until nothing reads it
				if _, err := w.Write([]byte(strings.Repeat("# more\n", 1<<12))); err != nil {
					return
				}
			}
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// count is how often the server was asked, and for what.
func (s *server) count() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// withGit puts a git before that of PATH that records its command lines.
func withGit(t *testing.T) (calls func() string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\necho \"$@\" >> '"+log+"'\nexec '"+real+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(text)
	}
}

// linkTo is before the target of a link among files.
const linkTo = "link to "

// repositories serves a repository of git with files by HTTP, as `git http-backend` does.
func repositories(t *testing.T, files map[string]string) (address string, asked func() []string) {
	t.Helper()
	root := t.TempDir()
	work, bare := filepath.Join(root, "work"), filepath.Join(root, "team", "op.git")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "--quiet", "-b", "main", work)
	for name, text := range files {
		path, write := filepath.Join(work, name), func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }
		if target, isLink := strings.CutPrefix(text, linkTo); isLink {
			write = func(path string) error { return os.Symlink(target, path) }
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), write(path)); err != nil {
			t.Fatal(err)
		}
	}
	run("-C", work, "add", "-A")
	run("-C", work, "commit", "--quiet", "-m", "one")
	run("-C", work, "tag", "v1")
	run("clone", "--quiet", "--bare", work, bare)
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	var mu sync.Mutex
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/team/op.git", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(paths)
	}
}

// everyPlace are the places of a kustomization by which kustomize fetches a file from an address.
func everyPlace(address string) map[string]string {
	local := "-- kustomization.yaml --\nresources: [a.yaml]\n%s\n-- a.yaml --\n" + strings.Replace(configMap, "fetched", "own", 1)
	all := map[string]string{}
	for name, field := range map[string]string{
		"resources":         "",
		"bases":             "bases: [ADDRESS]",
		"upper case":        "RESOURCES: [a.yaml, ADDRESS]",
		"alias":             "commonAnnotations: {a: &a ADDRESS}\nbases: [*a]",
		"components":        "components: [ADDRESS]",
		"patches":           "patches: [{path: ADDRESS}]",
		"strategic patches": "patchesStrategicMerge: [ADDRESS]",
		"replacements":      "replacements: [{path: ADDRESS}]",
		"map":               "configMapGenerator: [{name: m, files: [k=ADDRESS]}]",
		"environment":       "configMapGenerator: [{name: m, envs: [ADDRESS]}]",
		"secret":            "secretGenerator: [{name: m, files: [k=ADDRESS]}]",
		"schema":            "openapi: {path: ADDRESS}",
		"definitions":       "crds: [ADDRESS]",
		"configurations":    "configurations: [ADDRESS]",
		"generators":        "generators: [ADDRESS]",
		"transformers":      "transformers: [ADDRESS]",
		"validators":        "validators: [ADDRESS]",
		"a plug-in's":       "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: p}\n  path: ADDRESS",
	} {
		text := strings.Replace(local, "%s", field, 1)
		if name == "resources" || name == "upper case" {
			text = strings.Replace(text, "resources: [a.yaml]\n", "", 1)
		}
		if name == "resources" {
			text = strings.Replace(text, "-- kustomization.yaml --\n", "-- kustomization.yaml --\nresources: [a.yaml, ADDRESS]\n", 1)
		}
		all[name] = strings.ReplaceAll(text, "ADDRESS", address)
	}
	return all
}

// TestLookingFetchesNothing: wherever a kustomization names an address, no server is asked and no git is run.
func TestLookingFetchesNothing(t *testing.T) {
	calls, s := withGit(t), serve(t, map[string]string{"/a/b/c.yaml": configMap})
	for name, archive := range everyPlace(s.URL + "/a/b/c.yaml") {
		t.Run(name, func(t *testing.T) {
			_, err := Kustomization{Folder: unpack(t, archive)}.Build(t.Context())
			refused, ok := errors.AsType[*report.Error](err)
			if !errors.Is(err, kustomizefs.ErrRemote) || !ok || refused.Next == "" || !strings.Contains(refused.Err.Error(), s.URL) {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, base := range []string{s.URL + "/team/op.git", s.URL + "/team/op//config?ref=v1", "github.com/team/op", "git@localhost:team/op.git", "ssh://localhost:1/team/op", "file://" + t.TempDir()} {
		for _, list := range []string{"resources", "components", "bases", "generators", "transformers", "validators"} {
			if _, err := (Kustomization{Folder: unpack(t, "-- kustomization.yaml --\n"+list+": [\""+base+"\"]\n")}).Build(t.Context()); !errors.Is(err, kustomizefs.ErrRemote) {
				t.Errorf("%s in %s: %v", base, list, err)
			}
		}
	}
	if asked := s.count(); len(asked) > 0 {
		t.Errorf("a server was asked for %v", asked)
	}
	linked := unpack(t, "-- k.yaml --\nresources: [\""+s.URL+"/team/op.git\"]\n")
	if err := os.Symlink("k.yaml", filepath.Join(linked, "kustomization.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := (Kustomization{Folder: linked}).Build(t.Context()); !errors.Is(err, kustomizefs.ErrRemote) {
		t.Errorf("by a link: %v", err)
	}
	if called := calls(); called != "" {
		t.Errorf("git was run:\n%s", called)
	}
}

// announced builds a kustomization that may have files fetched, and returns what was announced.
func announced(t *testing.T, archive string) (names, addresses []string, err error) {
	t.Helper()
	ctx, end := kustomizefs.Online(t.Context(), func(address string) { addresses = append(addresses, address) })
	defer end()
	objects, err := Kustomization{Folder: unpack(t, archive)}.Build(ctx)
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	return names, addresses, err
}

// TestFetching: a file is announced and fetched once, and one without an end up to the limit.
func TestFetching(t *testing.T) {
	calls, s := withGit(t), serve(t, map[string]string{"/a/b/c.yaml": configMap})
	names, addresses, err := announced(t, everyPlace(s.URL + "/a/b/c.yaml")["resources"])
	if diff := cmp.Diff([]string{"own", "fetched"}, names); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if diff := cmp.Diff([]string{s.URL + "/a/b/c.yaml"}, addresses); diff != "" || len(s.count()) != 1 || calls() != "" {
		t.Errorf("asked for %v, git was run for %q, announced: %s", s.count(), calls(), diff)
	}
	_, _, err = announced(t, everyPlace(s.URL + "/endless.yaml")["patches"])
	if refused, ok := errors.AsType[*report.Error](err); !errors.Is(err, kustomizefs.ErrTooLarge) || !ok || refused.Where != s.URL+"/endless.yaml" {
		t.Errorf("without an end: %v", err)
	}
	_, _, err = announced(t, everyPlace(s.URL + "/endless.yaml")["resources"])
	if !errors.Is(err, kustomizefs.ErrTooLarge) || calls() != "" {
		t.Errorf("without an end, as a resource: %v, git was run for %q", err, calls())
	}
}

// TestFetchedBase: a base from a repository is fetched by the rules of package git, and no file of this machine becomes
// part of it.
func TestFetchedBase(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "kustomization.yaml"), []byte("configMapGenerator: [{name: stolen, literals: [a=b]}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 30) + strings.TrimPrefix(outside, "/")
	address, asked := repositories(t, map[string]string{
		"config/kustomization.yaml": "resources: [../base]\nnamePrefix: op-\n", "base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": configMap,
		"steal/kustomization.yaml":  "resources: [" + up + "]\n",
		"files/kustomization.yaml":  "configMapGenerator: [{name: stolen, files: [" + up + "/kustomization.yaml]}]\n",
		"merged/kustomization.yaml": "<<: {resources: [" + up + "]}\n",
		"tagged/kustomization.yaml": "resources: [!!binary " + base64.StdEncoding.EncodeToString([]byte(up)) + "]\n",
		"linked/kustomization.yaml": linkTo + "below/steal", "linked/below/steal": "resources: [" + up + "]\n",
		"through/kustomization.yaml": "resources: [out]\n", "through/out": linkTo + outside,
		"shared/kustomization.yaml": linkTo + "below/same", "shared/below/same": "resources: [../base]\nnamePrefix: op-\n",
		"component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: c-\n",
	})
	for name, archive := range map[string]string{
		"resources":       "-- kustomization.yaml --\nresources: [\"" + address + "/config?ref=v1\"]\n",
		"the whole":       "-- kustomization.yaml --\nbuildMetadata: [originAnnotations]\nresources: [\"" + address + "//config\"]\n",
		"by a link":       "-- kustomization.yaml --\nresources: [\"" + address + "//shared\"]\n",
		"with components": "-- kustomization.yaml --\nresources: [\"" + address + "//config\"]\ncomponents: [\"" + address + "//component\"]\n",
	} {
		names, addresses, err := announced(t, archive)
		want := "op-fetched"
		if name == "with components" {
			want = "c-op-fetched"
		}
		if err != nil || !slices.Equal(names, []string{want}) || !slices.Contains(addresses, address) {
			t.Errorf("%s: %v has %v, announced were %v", name, err, names, addresses)
		}
	}
	if names, _, err := announced(t, "-- kustomization.yaml --\nresources: [\""+strings.Replace(address, "/team", "/x/../../../team", 1)+"//config\", team/op.git/config]\n"+
		"-- team/op.git/config/kustomization.yaml --\nresources: [a.yaml]\n-- team/op.git/config/a.yaml --\n"+strings.Replace(configMap, "fetched", "own", 1)); err != nil || !slices.Equal(names, []string{"op-fetched", "own"}) {
		t.Errorf("an address that reads like a way to a folder of the project: %v, %v", names, err)
	}
	for _, folder := range []string{"steal", "merged", "tagged", "linked", "through", "files", "gone"} {
		names, _, err := announced(t, "-- kustomization.yaml --\nresources: [\""+address+"//"+folder+"\"]\n")
		leaves := folder != "files" && folder != "gone" // which kustomize refuses itself
		if err == nil || leaves != errors.Is(err, kustomizefs.ErrLeaves) || strings.Contains(err.Error(), "too large") {
			t.Errorf("%s: %v, has %v", folder, err, names)
		}
	}
	if len(asked()) == 0 {
		t.Error("nothing was fetched")
	}
	if value, set := os.LookupEnv(git.Protocols); set {
		t.Errorf("git's variable stays set: %s", value)
	}
}
