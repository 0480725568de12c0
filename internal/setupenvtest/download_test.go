package setupenvtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestDownloads: what suites say is read where that takes no run of them.
func TestDownloads(t *testing.T) {
	const head = "package a\n\nimport (\n\t\"path/filepath\"\n\n\t\"sigs.k8s.io/controller-runtime/pkg/envtest\"\n)\n\n"
	const usual = "/data/kubebuilder-envtest/k8s"
	for _, test := range []struct {
		name, code string
		found      bool
		folder     string // below the suite's folder, or absolute
		version    string
	}{
		{"none", `var e = envtest.Environment{BinaryAssetsDirectory: "a"}`, false, "", ""},
		{"not so", `var e = envtest.Environment{DownloadBinaryAssets: false}`, false, "", ""},
		{"constant", "const no = !true\n\nvar e = envtest.Environment{DownloadBinaryAssets: (no)}", false, "", ""},
		{"only without programs", `var e = envtest.Environment{DownloadBinaryAssets: os.Getenv("KUBEBUILDER_ASSETS") == ""}`, false, "", ""},
		{"alone", `var e = envtest.Environment{DownloadBinaryAssets: true}`, true, "", ""},
		{"exact", `var e = &envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: "bin", DownloadBinaryAssetsVersion: "v1.37.1"}`, true, "bin", "1.37.1"},
		{"joined", `var e = envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: filepath.Join("..", "bin", "k8s"), DownloadBinaryAssetsVersion: "1.36.0"}`, true, "../bin/k8s", "1.36.0"},
		{"a series", `var e = envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: "bin", DownloadBinaryAssetsVersion: "1.37"}`, true, "bin", ""},
		{"by names", "const version = \"v1.37.0\"\n\nfunc f() {\n\tdir, err := envtest.SetupEnvtestDefaultBinaryAssetsDirectory()\n\t_ = err\n\t_ = envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: dir, DownloadBinaryAssetsVersion: version}\n}", true, usual, "1.37.0"},
		{"by assignments", "func f() {\n\te := envtest.Environment{}\n\te.BinaryAssetsDirectory = \"bin\"\n\te.DownloadBinaryAssets = true\n\te.DownloadBinaryAssetsVersion = \"v1.37.1\"\n}", true, "bin", "1.37.1"},
		{"one of two values", "func f() {\n\tdir := \"a\"\n\tdir = \"b\"\n\t_ = envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: dir, DownloadBinaryAssetsVersion: \"v1.37.1\"}\n}", true, "", "1.37.1"},
		{"round and round", "var a, b = b, a\nvar e = envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: a, DownloadBinaryAssetsVersion: \"v1.37.1\"}", true, "", "1.37.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, "internal", "suite_test.go")
			if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(head+test.code+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			getenv := func(name string) string { return map[string]string{"XDG_DATA_HOME": "/data"}[name] }
			if test.folder == usual && Host().OS != "linux" {
				t.Skip("the usual folder is another one")
			}
			downloads, err := Downloads(fileview.Disk(root), getenv)
			if err != nil || (len(downloads) == 1) != test.found {
				t.Fatalf("found %v, %v", downloads, err)
			}
			if !test.found {
				return
			}
			d, folder := downloads[0], test.folder
			if folder != "" && !filepath.IsAbs(folder) {
				folder = filepath.Join(filepath.Dir(file), folder)
			}
			version, _ := parseVersion(test.version)
			if d.Folder != folder || d.Version != version || d.Exact() != (folder != "" && test.version != "") {
				t.Errorf("the suite asks for %s in %s: %+v", d.Version, d.Folder, d)
			}
			lines := strings.Split(head+test.code, "\n")
			if d.File != file || !d.Certain || !strings.HasPrefix(lines[d.Line-1][d.Column-1:], "true") {
				t.Errorf("it is at %s:%d:%d", d.File, d.Line, d.Column)
			}
		})
	}
}

// TestMayDownload: a suite may download unless what it says is false.
func TestMayDownload(t *testing.T) {
	for code, want := range map[string]struct {
		at      string
		certain bool
	}{
		`	_ = envtest.Environment{DownloadBinaryAssets: os.Getenv("A") == ""}`:                                       {`os.Getenv("A")`, false},
		"\td := true\n\t_ = &envtest.Environment{DownloadBinaryAssets: d}":                                           {"d}", true},
		"\td := false\n\td = true\n\t_ = &envtest.Environment{DownloadBinaryAssets: d}":                              {"d}", false},
		"\tvar e envtest.Environment\n\t(&e).DownloadBinaryAssets = !false":                                          {"!false", true},
		"\te := &envtest.Environment{}\n\t(*e).DownloadBinaryAssets = f":                                             {"f", false},
		"\tvar s struct{ env envtest.Environment }\n\ts.env.DownloadBinaryAssets = true":                             {"true", true},
		"\ttrue := false\n\t_ = envtest.Environment{DownloadBinaryAssets: !true}":                                    {"!true", true},
		"\tenvironments()[0].DownloadBinaryAssets = true\n\tenvironments()[1].BinaryAssetsDirectory = \"not of it\"": {"true", true},
	} {
		code = "package a\n\nimport \"sigs.k8s.io/controller-runtime/pkg/envtest\"\n\nfunc g(f bool) {\n" + code + "\n}\n"
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "suite_test.go"), []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
		downloads, err := Downloads(fileview.Disk(root), os.Getenv)
		if err != nil || len(downloads) != 1 {
			t.Fatalf("%s: %v, %v", code, downloads, err)
		}
		d := downloads[0]
		if line := strings.Split(code, "\n")[d.Line-1]; d.Certain != want.certain || d.Folder != "" || !strings.HasPrefix(line[d.Column-1:], want.at) {
			t.Errorf("%s: %+v", code, d)
		}
	}
}

// TestManyParts: a folder of parts that multiply is one that only running the suite shows.
func TestManyParts(t *testing.T) {
	join := func(name string) string { return "filepath.Join(" + strings.Repeat(name+", ", 500) + ")" }
	code := "package a\n\nimport \"sigs.k8s.io/controller-runtime/pkg/envtest\"\n\nvar a = \"a\"\nvar b = " + join("a") + "\nvar c = " + join("b") + "\nvar d = " + join("c") +
		"\nvar e = envtest.Environment{DownloadBinaryAssets: true, BinaryAssetsDirectory: " + join("d") + "}\n"
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "suite_test.go"), []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	downloads, err := Downloads(fileview.Disk(root), os.Getenv)
	if err != nil || len(downloads) != 1 || downloads[0].Folder != "" {
		t.Errorf("%d downloads, %v", len(downloads), err)
	}
}

// TestProvide: the folder is made, also where envtest has left an empty one, and stays when it is current or another's.
func TestProvide(t *testing.T) {
	programs := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(programs, fileName(name)), []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tool := Tool{Programs: func(context.Context) (string, error) { return programs, nil }, Handler: report.Discard}
	d := Download{Folder: filepath.Join(t.TempDir(), "bin"), Version: Version{1, 36, 2}}
	folder := filepath.Join(d.Folder, "1.36.2-"+Host().OS+"-"+Host().Arch)
	if err := os.MkdirAll(folder, 0o700); err != nil { // as a download that failed leaves it
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		got, made, err := tool.Provide(t.Context(), d)
		if err != nil || got != folder || made != want || !complete(folder) {
			t.Errorf("run %d: %s, %v, %v", i, got, made, err)
		}
	}
	theirs := filepath.Join(d.Folder, "1.35.0-"+Host().OS+"-"+Host().Arch)
	if err := os.CopyFS(theirs, os.DirFS(programs)); err != nil {
		t.Fatal(err)
	}
	if _, made, err := tool.Provide(t.Context(), Download{Folder: d.Folder, Version: Version{1, 35, 0}}); made || err != nil {
		t.Errorf("what was there was replaced: %v, %v", made, err)
	}
	if _, ours := readMarker(theirs); ours {
		t.Error("another's folder became ours")
	}
}

// TestEndlessMarker: a repository may have anything in the folder that its suite names, a link to what has no end too.
func TestEndlessMarker(t *testing.T) {
	if Host().OS == "windows" {
		t.Skip("it has no file without an end")
	}
	folder := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(folder, markerName)); err != nil {
		t.Fatal(err)
	}
	if _, ours := readMarker(folder); ours {
		t.Error("the folder is ours")
	}
}

func TestStandsIn(t *testing.T) {
	own := embedded()
	for v, want := range map[Version]bool{own: true, {own.Major, own.Minor, own.Patch + 1}: true, {own.Major, own.Minor - Skew, 0}: true,
		{own.Major, own.Minor - Skew - 1, 0}: false, {own.Major, own.Minor + 1, 0}: false} {
		if StandsIn(v) != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
}

// TestDownloadsOfOneModule: the suites of a nested module run from its own folder.
func TestDownloadsOfOneModule(t *testing.T) {
	root := t.TempDir()
	const suite = "package a\n\nimport \"sigs.k8s.io/controller-runtime/pkg/envtest\"\n\nvar e = envtest.Environment{DownloadBinaryAssets: true}\n"
	for name, text := range map[string]string{
		"go.mod":                         "module example.com/m\n",
		"internal/suite_test.go":         suite,
		"nested/go.mod":                  "module example.com/m/nested\n",
		"nested/suite_test.go":           suite,
		"nested/internal/suite_test.go":  suite,
		"another/nested/go.mod":          "module example.com/m/another/nested\n",
		"another/nested/a/suite_test.go": suite,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string][]string{".": {"internal/suite_test.go"}, "nested": {"nested/internal/suite_test.go", "nested/suite_test.go"}} {
		downloads, err := Downloads(fileview.Disk(filepath.Join(root, dir)), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range downloads {
			rel, err := filepath.Rel(root, d.File)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", dir, got, want)
		}
	}
}
