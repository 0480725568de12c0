package load_test

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzModules checks that any go.mod, go.work and modules.txt end in an answer or
// an error, without the go command having to be there.
func FuzzModules(f *testing.F) {
	f.Add("module m\ngo 1.26\nrequire example.com/dep v1.0.0\nreplace example.com/dep => ./dep\n", "", "")
	f.Add("module m\ngo 1.26\nrequire (\n\texample.com/dep v1.0.0\n)\n", "go 1.26\nuse .\nreplace example.com/dep => ./dep\n", "")
	f.Add("module m\ngo 1.20\n", "", "# example.com/dep v1.0.0\nexample.com/dep\n")
	f.Add("go 1.16", "use ../..", "#")
	f.Setenv("PATH", "")
	f.Setenv("GOENV", "off")
	f.Setenv("GOFLAGS", "")
	f.Setenv("GOWORK", "")
	f.Fuzz(func(t *testing.T, mod, work, vendored string) {
		dir := t.TempDir()
		files := map[string]string{
			"go.mod":     mod,
			"main.go":    "package m\n\nimport \"example.com/dep\"\n\ntype All struct{ F dep.T }\n",
			"dep/dep.go": "package dep\n\ntype T int\n",
		}
		if work != "" {
			files["go.work"] = work
		}
		if vendored != "" {
			files["vendor/modules.txt"] = vendored
		}
		for name, content := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		roots, err := newLoader(t, dir, nil).Roots(t.Context(), ".")
		if err != nil {
			return
		}
		roots[0].Decl("All").Type().StructFields()
	})
}
