package addon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
)

// Made is what an add-on consists of.
type Made struct {
	Dir     string                       // of the programs' sources, a Go module
	ID      string                       // names what the sources make, by their content and the Go that compiles
	Objects []*unstructured.Unstructured // definitions and others, whose workloads run the images of the programs
}

// Make writes the sources of an add-on into the cache and reads its objects. The go command fetches the module that has
// the definitions, if it is not in the user's module cache. Failures are [report.Error]s.
func Make(ctx context.Context, a *Addon, getenv func(string) string, h report.Handler) (Made, error) {
	dir, id, err := a.unpack(getenv)
	if err != nil {
		return Made{}, err
	}
	h.Handle(report.Step{Name: "getting " + a.module + "@" + a.Version()})
	module, err := a.fetch(ctx, dir)
	if err != nil {
		return Made{}, err
	}
	objects, err := a.read(module)
	if err != nil {
		return Made{}, &report.Error{What: "cannot read the objects of " + a.Name + "", Where: module, Err: err,
			Hint: "the module cache may be damaged", Next: "go clean -modcache"}
	}
	return Made{dir, id, objects}, nil
}

// fetch returns the folder of the module that has the definitions. The go command checks it against the go.sum in dir.
func (a *Addon) fetch(ctx context.Context, dir string) (string, error) {
	env, err := gocommand.Read(ctx)
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	err = gocommand.Command{Dir: dir, Env: env.With("GOWORK=off"), Args: []string{"mod", "download", "-json", a.module}, Stdout: &out, Stderr: &said}.Run(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var answer struct{ Dir, Error string }
	if json.Unmarshal(out.Bytes(), &answer) == nil && answer.Error == "" && answer.Dir != "" && err == nil {
		return answer.Dir, nil
	}
	if e := env.Explain(said.String()+answer.Error, dir); e != nil {
		return "", e
	}
	if why := strings.TrimSpace(said.String() + "\n" + answer.Error); why != "" {
		err = errors.New(why)
	}
	return "", &report.Error{
		What: "cannot download the module of " + a.Name + "", Where: a.module + "@" + a.Version(), Err: err,
		Hint: "the go command downloads modules through GOPROXY; on a closed network set it to a proxy there",
		Next: "go env GOPROXY",
	}
}

// Limits of what is read from a module: definitions have less than a megabyte each.
const (
	maxFile = 4 << 20
	maxAll  = 32 << 20
)

// errLarge is why files are not read.
var errLarge = errors.New("it is too large for definitions")

// read returns the definitions in the module's folder, and the objects that slipway brings itself.
func (a *Addon) read(module string) ([]*unstructured.Unstructured, error) {
	root, err := os.OpenRoot(filepath.Join(module, filepath.FromSlash(a.definitions)))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), "*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	left := int64(maxAll)
	for _, name := range names {
		text, err := readSmall(root, name, min(maxFile, left))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		left -= int64(len(text))
		if all, err = decode(all, text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(all) == 0 {
		return nil, fs.ErrNotExist
	}
	own, err := fs.ReadFile(sources, path.Join("_sources", a.Name, manifests))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(all, own)
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(root *os.Root, name string, limit int64) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = errLarge
	}
	return text, err
}

// decode appends the objects of a YAML stream.
func decode(all []*unstructured.Unstructured, text []byte) ([]*unstructured.Unstructured, error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		json, err := yaml.ToJSON(document)
		if err != nil {
			return nil, err
		}
		if string(bytes.TrimSpace(json)) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(json); err != nil {
			return nil, err
		}
		all = append(all, object)
	}
}
