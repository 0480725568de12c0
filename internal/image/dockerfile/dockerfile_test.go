package dockerfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/internal/image/dockerfile"
)

// usual is a Dockerfile of the kind that most operators have.
const usual = `# syntax=docker/dockerfile:1
ARG BASE=gcr.io/distroless/static:nonroot
FROM docker.io/golang:1.26 AS builder
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev

WORKDIR /workspace
COPY go.mod go.mod
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .

# A comment between.
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=${TARGETARCH} \
    # and one within
    go build -a -ldflags "-s -X main.version=${VERSION}" -tags=netgo -o manager cmd/main.go

FROM ${BASE}
WORKDIR /
COPY --from=builder /workspace/manager .
USER 65532:65532
ENTRYPOINT ["/manager"]
`

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		arguments map[string]string
		want      dockerfile.Recipe
	}{
		"usual": {usual, nil, dockerfile.Recipe{
			Build:  dockerfile.Build{Line: 14, Package: "cmd/main.go", Flags: []string{"-ldflags=-s -X main.version=dev", "-tags=netgo"}},
			Binary: "/manager", User: "65532:65532", Entrypoint: []string{"/manager"},
		}},
		"arguments": {usual, map[string]string{"VERSION": "v1", "BASE": "alpine:3"}, dockerfile.Recipe{
			Build:  dockerfile.Build{Line: 14, Package: "cmd/main.go", Flags: []string{"-ldflags=-s -X main.version=v1", "-tags=netgo"}},
			Binary: "/manager", User: "65532:65532", Entrypoint: []string{"/manager"}, Base: "alpine:3",
		}},
		"none": {"", nil, dockerfile.Recipe{}},
		"configuration": {"FROM scratch\nENV A=1 B=\"two words\"\nENV OLD form\nLABEL a.b=\"c d\"\nEXPOSE 80\nCMD [\"--x\"]\n", nil, dockerfile.Recipe{
			Env: []string{"A=1", "B=two words", "OLD=form"}, Labels: map[string]string{"a.b": "c d"}, Command: []string{"--x"},
		}},
		"apart": {"FROM golang AS b\nRUN apt-get install x\nRUN go build -race -o /m . || true\nRUN <<EOF\nFROM nowhere\nEOF\nRUN go build -ldflags=$V -o m\nRUN CGO_ENABLED=1 go build\nFROM scratch\nRUN x\nHEALTHCHECK NONE\nENTRYPOINT /m\nCOPY a b\n", nil, dockerfile.Recipe{
			Apart: []dockerfile.Line{
				{2, "RUN apt-get install x", "nothing but go build is run"},
				{3, "RUN go build -race -o /m . || true", "it is no command that is understood here"},
				{4, "RUN <<EOF", "it is no command that is understood here"},
				{7, "RUN go build -ldflags=$V -o m", "$V has no value; --build-arg gives it one"},
				{8, "RUN CGO_ENABLED=1 go build", "a program of C code needs the libraries that it is linked with"},
				{10, "RUN x", "no command is run in the image"},
				{11, "HEALTHCHECK NONE", "it is not known here"},
				{12, "ENTRYPOINT /m", "it needs a shell, and there is none"},
				{13, "COPY a b", "only the program is put into the image"},
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := dockerfile.Read(c.text, c.arguments)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(dockerfile.Build{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzRead: whatever a Dockerfile holds, it is read to its end, and each line that is told of is one of its lines.
func FuzzRead(f *testing.F) {
	f.Add(usual)
	f.Add("FROM a\nRUN <<EOF\n")
	f.Add("RUN \\\n\\\n# c\n\\")
	f.Add("LABEL \"a=b\nENV =\nARG =x\nCOPY --from=")
	f.Add("FROM $X\nRUN go build -o\nCOPY --from=a m /")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1
		for _, c := range text {
			if c == '\n' {
				lines++
			}
		}
		for _, l := range dockerfile.Read(text, nil).Apart {
			if l.Number < 1 || l.Number > lines || l.Why == "" {
				t.Errorf("%+v, of %d lines", l, lines)
			}
		}
	})
}
