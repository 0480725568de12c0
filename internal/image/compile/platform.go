package compile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Platform is a system and a processor, like linux/arm64 or linux/arm/v7.
type Platform struct{ OS, Arch, Variant string }

// ParsePlatform reads OS/ARCH or OS/ARCH/VARIANT.
func ParsePlatform(text string) (Platform, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Platform{}, &report.Error{What: "invalid platform " + strconv.Quote(text), Where: "--platform", Hint: "use a platform like linux/amd64 or linux/arm64"}
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	if p.OS != "linux" && p.OS != "darwin" { // the latter for pods that are plain processes of a Mac
		return p, &report.Error{What: "no image can be built for " + p.OS, Where: "--platform", Hint: "use linux, or darwin for plain nodes"}
	}
	if known := variants[p.Arch]; p.Variant != "" && !slices.Contains(known, p.Variant) {
		e := &report.Error{What: "there is no variant " + p.Variant + " of " + p.Arch, Where: "--platform"}
		if len(known) > 0 {
			e.Hint = "it has " + strings.Join(known, ", ")
		}
		return p, e
	}
	return p, nil
}

// variants are those of processors that programs can be compiled for.
var variants = map[string][]string{"amd64": {"v1", "v2", "v3", "v4"}, "arm": {"v5", "v6", "v7"}, "arm64": {"v8", "v9"}}

// String is what ParsePlatform reads.
func (p Platform) String() string {
	return strings.TrimSuffix(p.OS+"/"+p.Arch+"/"+p.Variant, "/")
}

// environment makes the go command build for the platform.
func (p Platform) environment() []string {
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.OS, "GOARCH=" + p.Arch}
	switch level := strings.TrimPrefix(p.Variant, "v"); {
	case level == "":
	case p.Arch == "arm":
		env = append(env, "GOARM="+level)
	case p.Arch == "amd64":
		env = append(env, "GOAMD64=v"+level)
	case p.Arch == "arm64":
		env = append(env, "GOARM64=v"+level+".0")
	}
	return env
}
