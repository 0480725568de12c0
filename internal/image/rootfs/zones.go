package rootfs

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/slipway-dev/slipway/internal/report"
)

// database is Go's database of time zones, an archive. Distributions leave the file out that Go has it in, because they
// have one of their own; the package that programs embed it with holds the same bytes.
func database(goroot string) ([]byte, error) {
	file := filepath.Join(goroot, "lib", "time", "zoneinfo.zip")
	archive, err := os.ReadFile(file)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return archive, err
	}
	source := filepath.Join(goroot, "src", "time", "tzdata", "zzipdata.go")
	archive, sourceErr := embedded(source)
	if sourceErr != nil {
		return nil, &report.Error{What: "the Go installation has no time zones for the image", Where: file, Err: errors.Join(err, sourceErr),
			Hint: "install Go from https://go.dev/dl, or use an image with time zones: --base"}
	}
	return archive, nil
}

var errNoData = errors.New("it has no constant zipdata")

// embedded is the database in the source of package time/tzdata, a constant.
func embedded(source string) ([]byte, error) {
	f, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var text string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "zipdata" && len(v.Values) == 1 {
			if literal, ok := v.Values[0].(*ast.BasicLit); ok {
				text, err = strconv.Unquote(literal.Value)
			}
		}
		return true
	})
	if err == nil && text == "" {
		err = errNoData
	}
	return []byte(text), err
}
