package generate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestReadsTheSame runs both programs on small modules whose code, or whose layout, is easily misread, and compares
// the trees. The first line of an archive holds the arguments. The module k8s.io/apimachinery is a small one of the
// archive base.txt, so that controller-gen has little to load.
func TestReadsTheSame(t *testing.T) {
	programs := testPrograms(t)
	base := readArchive(t, filepath.Join("testdata", "base.txt"))
	archives, err := filepath.Glob(filepath.Join("testdata", "read", "*.txt"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			archive := readArchive(t, name)
			line, _, _ := bytes.Cut(archive.Comment, []byte("\n"))
			args := strings.Fields(string(line))
			peers, ours := unpack(t, base, archive), unpack(t, base, archive)
			peer := execute(t.Context(), t, peers, programs.Peer, args...)
			own := execute(t.Context(), t, ours, programs.Slipway, append([]string{"controller-gen"}, args...)...)
			if peer.code != 0 || own.code != 0 {
				t.Fatalf("controller-gen: status %d\n%s\nslipway: status %d\n%s", peer.code, peer.output, own.code, own.output)
			}
			if files := len(archive.Files) + len(base.Files); len(readTree(t, peers)) <= files {
				t.Error("controller-gen wrote nothing")
			}
			compareTrees(t, ours, peers)
		})
	}
}

func readArchive(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return txtar.Parse(text)
}

// unpack writes archives into a new folder; a file of a later one replaces that of an earlier one.
func unpack(t *testing.T, archives ...*txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, archive := range archives {
		files := make(map[string]string)
		for _, f := range archive.Files {
			files[f.Name] = string(f.Data)
		}
		writeFiles(t, dir, files)
	}
	return dir
}
