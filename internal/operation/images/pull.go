package images

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Pull is how to pull images from registries.
type Pull struct {
	Platform string   // like linux/arm64; "" means linux on this machine's architecture
	Mirrors  []string // like docker.io=mirror.example.com; tried before those of SLIPWAY_MIRROR
}

// PullImages pulls images from the registries in their names, or from mirrors, and stores them. It stops at the first
// error; images pulled before it stay.
func PullImages(ctx context.Context, s *operation.Session, p Pull, refs ...string) ([]image.Image, error) {
	var value struct {
		Images []image.Image `json:"images"`
	}
	var lines []string
	for _, ref := range refs {
		pulled, err := image.New(s.Getenv, s.Handler).Pull(ctx, image.Pull{Ref: ref, Platform: p.Platform, Mirrors: p.Mirrors})
		if err != nil {
			return nil, err
		}
		value.Images, lines = append(value.Images, pulled), append(lines, pulledText(pulled))
	}
	s.Handler.Handle(report.Result{Text: strings.Join(lines, "\n"), Value: value})
	return value.Images, nil
}

func pulledText(i image.Image) string {
	verb := "pulled"
	if i.Unchanged {
		verb = "unchanged:"
	}
	return fmt.Sprintf("%s %s for %s, %s\n%s", verb, i.Name, platforms(i), operation.FormatSize(i.Size), i.Digest)
}

func platforms(i image.Image) string {
	var names []string
	for _, p := range i.Platforms {
		names = append(names, p.Platform)
	}
	return strings.Join(names, ", ")
}
