package dockerfile_test

import (
	"slices"
	"strings"
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
			Binary: "/manager", Workdir: "/", User: "65532:65532", Entrypoint: []string{"/manager"},
		}},
		"arguments": {usual, map[string]string{"VERSION": "v1", "BASE": "alpine:3"}, dockerfile.Recipe{
			Build:  dockerfile.Build{Line: 14, Package: "cmd/main.go", Flags: []string{"-ldflags=-s -X main.version=v1", "-tags=netgo"}},
			Binary: "/manager", Workdir: "/", User: "65532:65532", Entrypoint: []string{"/manager"}, Base: "alpine:3",
		}},
		"none": {"", nil, dockerfile.Recipe{}},
		"configuration": {"FROM scratch\nENV A=1 B=\"two words\"\nENV OLD form\nLABEL a.b=\"c d\"\nEXPOSE 80\nCMD [\"--x\"]\n", nil, dockerfile.Recipe{
			Env: []string{"A=1", "B=two words", "OLD=form"}, Labels: map[string]string{"a.b": "c d"}, Command: []string{"--x"},
		}},
		"apart": {"FROM golang AS b\nRUN apt-get install x\nRUN go build -race -o /m . || true\nRUN <<EOF\nFROM nowhere\nEOF\nRUN go build -ldflags=$V -o m\nRUN CGO_ENABLED=1 go build\nFROM scratch\nRUN x\nHEALTHCHECK NONE\nENTRYPOINT /m\nCOPY a b\n", nil, dockerfile.Recipe{
			Apart: []dockerfile.Line{
				{2, "RUN apt-get install x", "slipway runs only go build"},
				{3, "RUN go build -race -o /m . || true", "slipway does not understand this command"},
				{4, "RUN <<EOF", "slipway runs only go build"},
				{7, "RUN go build -ldflags=$V -o m", "$V has no value; --build-arg gives it one"},
				{8, "RUN CGO_ENABLED=1 go build", "a program with C code needs libraries, which the image does not have"},
				{10, "RUN x", "slipway runs no command in the image"},
				{11, "HEALTHCHECK NONE", "slipway does not know it"},
				{12, "ENTRYPOINT /m", "it needs a shell, which the image does not have"},
				{13, "COPY a b", "the image holds only the program"},
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

// TestProgram: whatever the form in which a Dockerfile builds, copies and starts the program, the image has it where it
// is started.
func TestProgram(t *testing.T) {
	for name, c := range map[string]struct{ text, pkg, binary, started string }{
		"several builds":        {"FROM go AS b\nRUN go build -o m ./cmd && go build -o tool ./tool\nFROM x\nCOPY --from=b /w/m /\nENTRYPOINT [\"/m\"]", "./cmd", "/m", "/m"},
		"several programs":      {"FROM go AS b\nRUN go build -o tool ./tool\nRUN go build -o m ./cmd\nFROM x\nCOPY --from=b /w/tool /w/m /\nCOPY --from=b /w/tool /tool\nCOPY --from=b /w/m /m\nENTRYPOINT [\"/m\"]", "./cmd", "/m", "/m"},
		"of one name":           {"FROM go AS b\nRUN go build -o /a/m ./a\nRUN go build -o /b/m ./b\nFROM x\nCOPY --from=b /b/m /m\nENTRYPOINT [\"/m\"]", "./b", "/m", "/m"},
		"in a folder":           {"FROM go AS b\nRUN go build -o m ./cmd\nFROM x\nWORKDIR /app\nCOPY --from=b /m .\nENTRYPOINT [\"./m\"]", "./cmd", "/app/m", "/app/m"},
		"by its name":           {"FROM go AS b\nRUN go build -o m ./cmd\nFROM x\nCOPY --from=b /m /usr/bin/\nCMD [\"m\"]", "./cmd", "/usr/bin/m", "/usr/bin/m"},
		"lists":                 {"FROM go AS b\nRUN [\"go\", \"build\", \"-o\", \"/m\", \"./cmd\"]\nFROM x\nCOPY --from=b [\"/m\", \"/bin/\"]\nENTRYPOINT [\"/bin/m\"]", "./cmd", "/bin/m", "/bin/m"},
		"here-document":         {"FROM go AS b\nRUN --mount=type=cache,target=/c <<-'EOF'\n\tset -e\n\tgo build -o /m ./cmd\nEOF\nFROM x\nCOPY --from=b /m /m\nCOPY <<A <<B /etc/\nENTRYPOINT [\"/a\"]\nA\nENTRYPOINT [\"/b\"]\nB\nENTRYPOINT [\"/m\"]", "./cmd", "/m", "/m"},
		"cd":                    {"FROM go AS b\nWORKDIR /w\nCOPY go.mod go.sum ./\nRUN cd cmd && go build -o /m .\nFROM x\nCOPY --from=b /m /m", "cmd", "/m", ""},
		"-C":                    {"FROM go AS b\nWORKDIR /w\nCOPY go.mod go.mod\nRUN go build -C cmd -o /m\nFROM x\nCOPY --from=b /m /m", "cmd", "/m", ""},
		"a folder to work in":   {"FROM go AS b\nCOPY . /w\nWORKDIR /w/cmd/manager\nRUN go build\nFROM x\nCOPY --from=b /w/cmd/manager/manager /m", "cmd/manager", "/m", ""},
		"a file in it":          {"FROM go AS b\nCOPY . /w\nWORKDIR /w/cmd\nRUN go build -o /m main.go\nFROM x\nCOPY --from=b /m /m", "cmd/main.go", "/m", ""},
		"an absolute path":      {"FROM go AS b\nCOPY . /w\nRUN go build -o /m /w/cmd\nFROM x\nCOPY --from=b /m /m", "cmd", "/m", ""},
		"an import path":        {"FROM go AS b\nCOPY . /w\nWORKDIR /w/x\nRUN go build -o /m example.com/op/cmd\nFROM x\nCOPY --from=b /m /m", "example.com/op/cmd", "/m", ""},
		"into a folder":         {"FROM go AS b\nCOPY . /w\nRUN go build -o /bin/ ./cmd\nFROM x\nCOPY --from=b /bin/cmd /m", "./cmd", "/m", ""},
		"env":                   {"FROM go AS b\nRUN env CGO_ENABLED=0 go build -o /m ./cmd\nFROM x\nCOPY --from=b /m /m", "./cmd", "/m", ""},
		"nothing is understood": {"FROM go AS b\nRUN make\nFROM x\nCOPY --from=b /w/m /bin/m\nENTRYPOINT [\"/bin/m\"]", "", "/bin/m", "/bin/m"},
		"nor where it is":       {"FROM go AS b\nRUN make\nFROM x\nCOPY --from=b /out /\nENTRYPOINT [\"/bin/m\"]", "", "/bin/m", "/bin/m"},
		"a variable":            {"FROM go AS b\nARG B=m\nRUN go build -o $B ./cmd\nFROM x\nARG B=m\nCOPY --from=b /w/${B} /$B", "./cmd", "/m", ""},
		"a mark at the start":   {"\ufeffFROM x\nENTRYPOINT [\"/m\"]", "", "/m", "/m"},
		"another one":           {"FROM go AS b\nRUN go build -o /m ./cmd\nFROM x\nCOPY --from=b /m /m\nENTRYPOINT [\"/run.sh\"]", "./cmd", "/m", "/run.sh"},
		"arguments":             {"FROM go AS b\nRUN go build -o /m ./cmd\nFROM x\nCOPY --from=b /m /m\nCMD [\"--x\"]", "./cmd", "/m", "/usr/local/bin/--x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := dockerfile.Read(c.text, nil)
			if r.Build.Package != c.pkg || r.Binary != c.binary || r.Started() != c.started {
				t.Errorf("package %q at %q, %q is started; want %q, %q, %q\n%+v", r.Build.Package, r.Binary, r.Started(), c.pkg, c.binary, c.started, r.Apart)
			}
		})
	}
}

// TestArgumentWithoutValue: it stands for nothing, as in Docker, but for those that have values there.
func TestArgumentWithoutValue(t *testing.T) {
	const before, after = "FROM go AS b\n", "\nFROM x\nCOPY --from=b /m /m"
	for name, c := range map[string]struct {
		text, pkg string
		flags     []string
		apart     string
	}{
		"in a flag":            {before + "ARG V\nRUN go build -ldflags=\"-X main.version=$V\" -o /m ./cmd" + after, "./cmd", []string{"-ldflags=-X main.version="}, ""},
		"a word":               {before + "ARG V\nRUN go build -o /m ./cmd $V" + after, "./cmd", nil, ""},
		"a default elsewhere":  {before + "ARG V\nRUN go build -tags=${V:-a} -o /m ./cmd" + after, "./cmd", []string{"-tags=a"}, ""},
		"before FROM":          {"ARG V\n" + before + "ARG V\nRUN go build -o /m ./cmd$V" + after, "./cmd", nil, ""},
		"it has a value":       {before + "ARG V=a\nARG V\nRUN go build -tags=$V -o /m ./cmd" + after, "./cmd", []string{"-tags=a"}, ""},
		"ENV gave it one":      {"ARG V\n" + before + "ENV V=a\nARG V\nRUN go build -tags=$V -o /m ./cmd" + after, "./cmd", []string{"-tags=a"}, ""},
		"the builder's":        {before + "ARG TARGETARCH\nRUN go build -o /m-$TARGETARCH ./cmd" + after, "", nil, "$TARGETARCH has no value; --build-arg gives it one"},
		"of another stage":     {before + "ARG V\nFROM go\nRUN go build -tags=$V -o /m ./cmd" + after, "", nil, "$V has no value; --build-arg gives it one"},
		"that is not declared": {before + "RUN go build -tags=$V -o /m ./cmd" + after, "", nil, "$V has no value; --build-arg gives it one"},
	} {
		t.Run(name, func(t *testing.T) {
			r := dockerfile.Read(c.text, nil)
			if diff := cmp.Diff(c.flags, r.Build.Flags); diff != "" || r.Build.Package != c.pkg {
				t.Errorf("package %q\n%s", r.Build.Package, diff)
			}
			if c.apart == "" && len(r.Apart) > 0 || c.apart != "" && (len(r.Apart) == 0 || r.Apart[0].Why != c.apart) {
				t.Errorf("apart: %+v", r.Apart)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	r := dockerfile.Read("FROM go AS b\nENV GOFLAGS=-tags=a\nRUN GOFIPS140=latest go build -o m\nFROM x\nENV PATH=$PATH:/x Q='$A' R=$A\n", nil)
	if diff := cmp.Diff([]string{"GOFIPS140=latest"}, r.Build.Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"-tags=a"}, r.Build.Flags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/x", "Q=$A", "R="}, r.Env); diff != "" {
		t.Error(diff)
	}
	r = dockerfile.Read("FROM go AS b\nENV CGO_ENABLED=1\nRUN go build -o m\nFROM x", nil)
	if len(r.Apart) != 1 || r.Build.Line != 0 {
		t.Errorf("a program of C code is taken: %+v", r)
	}
}

// TestBomb: variables that stand for each other do not become gigabytes, and what builds with such a one is told.
func TestBomb(t *testing.T) {
	double := strings.Repeat("ENV A=$A$A\n", 60)
	for name, text := range map[string]string{
		"ENV": "FROM go AS b\nENV A=xxxx\n" + double, "ARG": "FROM go AS b\nARG A=xxxx\n" + strings.ReplaceAll(double, "ENV", "ARG"),
		"one line": "FROM go AS b\nENV A=" + strings.Repeat("x", 1<<15) + "\nENV B=" + strings.Repeat("$A", 1<<15) + "\nENV A=$B\n",
	} {
		r := dockerfile.Read(text+"RUN go build -o /m -ldflags=$A ./cmd\nFROM scratch\nENV B=$A\nLABEL a=$A\nCOPY --from=b /m /m\n", nil)
		size := 0
		for _, part := range slices.Concat(r.Env, r.Build.Flags, []string{r.Labels["a"]}) {
			size += len(part)
		}
		if size > 4<<20 || len(r.Apart) == 0 {
			t.Errorf("%s: %d bytes, %d lines are told", name, size, len(r.Apart))
		}
	}
}

// FuzzRead: whatever a Dockerfile holds, it is read to its end, and each line that is told of is one of its lines.
func FuzzRead(f *testing.F) {
	f.Add(usual)
	f.Add("FROM a\nRUN <<EOF\n")
	f.Add("RUN \\\n\\\n# c\n\\")
	f.Add("LABEL \"a=b\nENV =\nARG =x\nCOPY --from=")
	f.Add("FROM a\nENV GOFLAGS=-toolexec=x\nRUN GOFLAGS='-ldflags=all=-extld=a -modfile=../x' go build -ldflags \"-X 'a.b=@c d' -X @x -s\" -gcflags=-o=/x\nFROM b")
	f.Add("FROM $X\nRUN go build -o\nCOPY --from=a m /")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1
		for _, c := range text {
			if c == '\n' {
				lines++
			}
		}
		r := dockerfile.Read(text, nil)
		for _, l := range slices.Concat(r.Apart, r.Omitted) {
			if l.Number < 1 || l.Number > lines || l.Why == "" {
				t.Errorf("%+v, of %d lines", l, lines)
			}
		}
		harmless(t, r.Build)
	})
}

// TestReadStage: the stage that is named, or numbered, is the last one.
func TestReadStage(t *testing.T) {
	const text = `FROM golang:1.26 AS builder
RUN go build -o /manager ./cmd/manager
FROM scratch AS plain
COPY --from=builder /manager /manager
USER 1
ENTRYPOINT ["/manager"]
FROM debian:12
COPY --from=builder /manager /usr/bin/manager
USER 2
ENTRYPOINT ["/usr/bin/manager"]
`
	for target, want := range map[string]string{"": "2", "plain": "1", "PLAIN": "1", "1": "1", "2": "2", "builder": ""} {
		r, err := dockerfile.ReadStage(text, target, nil)
		if err != nil || r.User != want {
			t.Errorf("%q: user %q, %v; want %q", target, r.User, err, want)
		}
	}
	if _, err := dockerfile.ReadStage(text, "debug", nil); err == nil || !strings.Contains(err.Error(), "builder, plain, 2") {
		t.Errorf("a stage that does not exist: %v", err)
	}
}
