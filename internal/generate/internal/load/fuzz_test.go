package load_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzModules checks that any go.mod, go.work and modules.txt end in an answer or
// an error, without the go command having to be there, and that what is found is one
// of the folders that there are. It keeps them between inputs, as making them takes
// longest.
func FuzzModules(f *testing.F) {
	f.Add("module m\ngo 1.26\nrequire example.com/dep v1.0.0\nreplace example.com/dep => ./dep\n", "", "", "")
	f.Add("module m\ngo 1.26\nrequire (\n\texample.com/dep v1.0.0\n)\n", "go 1.26\nuse .\nreplace example.com/dep => ./dep\n", "", "")
	f.Add("module m\ngo 1.20\n", "", "# example.com/dep v1.0.0\nexample.com/dep\n", "-mod=vendor")
	f.Add("module m\ngo 1.20\nrequire example.com/dep v1.0.0\n", "", "# example.com/dep v1.0.0\nexample.com/dep\n", "'-mod=mod' -x")
	f.Add("module m\ngo 1.26\nrequire example.com/dep v1.0.0\n", "", "", "")
	f.Add("module example.com\ngo 1.26\nignore ./dep\n", "go 1.26\nuse (\n./dep\n.\n)\n", "", "-modfile=dep/go.mod")
	f.Add("module m\ngo 1.26\nrequire example.com/dep v1.0.0\nreplace example.com/dep v1.0.0 => example.com/other v1.0.0\n", "", "", "")
	f.Add("go 1.16", "use ../..", "#", "\"")
	dir := f.TempDir()
	for name, content := range map[string]string{
		"main.go":                                  "package m\n\nimport \"example.com/dep\"\n\ntype All struct{ F dep.T }\n",
		"dep/go.mod":                               "module example.com/dep\n",
		"dep/dep.go":                               "package dep\n\ntype T int\n",
		"plain/dep/dep.go":                         "package dep\n\ntype T int\n",
		"vendor/example.com/dep/dep.go":            "package dep\n\ntype T int\n",
		"modcache/example.com/dep@v1.0.0/dep.go":   "package dep\n\ntype T int\n",
		"modcache/example.com/other@v1.0.0/dep.go": "package dep\n\ntype T int\n",
	} {
		put(f, dir, name, content)
	}
	for name, value := range map[string]string{"PATH": "", "GOENV": "off", "GOWORK": "", "GOMODCACHE": filepath.Join(dir, "modcache")} {
		f.Setenv(name, value)
	}
	homes := []string{"dep", "plain/dep", "vendor/example.com/dep", "modcache/example.com/dep@v1.0.0", "modcache/example.com/other@v1.0.0"}
	f.Fuzz(func(t *testing.T, mod, work, vendored, flags string) {
		if strings.Contains(flags, "\x00") || strings.ContainsAny(work+mod, "\\/") && strings.Contains(work+mod, "..") {
			t.Skip() // no environment, or a way out of the folder
		}
		put(t, dir, "go.mod", mod)
		put(t, dir, "go.work", work)
		put(t, dir, "vendor/modules.txt", vendored)
		if err := os.Setenv("GOFLAGS", flags); err != nil {
			t.Fatal(err)
		}
		l := newLoader(t, dir, nil)
		roots, err := l.Roots(t.Context(), "./...")
		if err != nil {
			return
		}
		l.CheckImports(roots)
		for _, root := range roots {
			p, err := root.Import("example.com/dep")
			if err != nil {
				continue
			}
			rel, err := filepath.Rel(dir, p.Dir)
			if err != nil || !slices.Contains(homes, filepath.ToSlash(rel)) || p.Decl("T") == nil {
				t.Errorf("found in %s, %v", rel, err)
			}
		}
	})
}

// put writes a file, or removes it when there is nothing to write.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if content == "" {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
