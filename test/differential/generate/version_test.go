package generate

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
)

// versionFlag chooses another version of controller-gen than the newest one that slipway knows, for the tests of
// definitions, roles, webhooks and methods alike.
var versionFlag = flag.String("version", "", "the `version` of controller-gen to compare with; the newest when empty")

// standsFor is the variable by which a link has slipway write the files of a version.
const standsFor = "SLIPWAY_STANDS_FOR"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := os.Setenv(standsFor, cmp.Or(*versionFlag, versions[len(versions)-1])); err != nil { // a project may pin another
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// controllerGen builds the controller-gen to compare with.
func controllerGen(ctx context.Context, dir string) (string, error) {
	if *versionFlag == "" {
		return build.ControllerGen(ctx, dir)
	}
	return build.ControllerGenOf(ctx, dir, *versionFlag)
}

// oracleProgram builds the program that answers what controller-gen's generators make of packages.
func oracleProgram(ctx context.Context, dir string) (string, error) {
	root, err := build.Root(ctx)
	if err != nil {
		return "", err
	}
	module := filepath.Join(root, "test", "differential")
	if *versionFlag == "" {
		return build.Compile(ctx, module, dir, "oracle", "./generate/oracle/serve")
	}
	sources, err := oracleSources(filepath.Join(module, "generate"))
	if err != nil {
		return "", err
	}
	return build.CompileWith(ctx, dir, "oracle", *versionFlag, sources, "./oracle/serve")
}

// oracleModule is the module with the oracle that was built in dir.
func oracleModule(dir string) string {
	if *versionFlag == "" {
		return ".."
	}
	return filepath.Join(dir, "module")
}

// oracleSources are the oracle's packages as those of a module called versions.
func oracleSources(dir string) (map[string]string, error) {
	sources := make(map[string]string)
	for _, folder := range []string{"oracle", "oracle/serve"} {
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			sources[path.Join(folder, filepath.Base(file))] = strings.ReplaceAll(string(text), "github.com/slipway-dev/slipway/test/differential/generate/", "versions/")
		}
	}
	return sources, nil
}
