package dockerfile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

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

// read reads a Dockerfile that is valid.
func read(t *testing.T, text string, o dockerfile.Options) dockerfile.Recipe {
	t.Helper()
	r, err := dockerfile.Read(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// program is the first program of a recipe, or none.
func program(r dockerfile.Recipe) dockerfile.Build {
	if len(r.Programs) == 0 {
		return dockerfile.Build{}
	}
	return r.Programs[0]
}

// left are the lines that the image lacks something without.
func left(r dockerfile.Recipe) (all []string) {
	for _, l := range r.Left {
		if !l.Harmless && !l.Flag {
			all = append(all, fmt.Sprintf("%s:%d: %s: %s", l.File, l.Number, l.Text, l.Why))
		}
	}
	return all
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		arguments map[string]string
		want      dockerfile.Recipe
	}{
		"usual": {usual, nil, dockerfile.Recipe{
			Programs: []dockerfile.Build{{File: "Dockerfile", Line: 14, Package: "cmd/main.go", Path: "/manager", Flags: []string{"-ldflags=-s -X main.version=dev", "-tags=netgo"}}},
			Workdir:  "/", User: "65532:65532", Entrypoint: []string{"/manager"},
		}},
		"arguments": {usual, map[string]string{"VERSION": "v1", "BASE": "alpine:3"}, dockerfile.Recipe{
			Programs: []dockerfile.Build{{File: "Dockerfile", Line: 14, Package: "cmd/main.go", Path: "/manager", Flags: []string{"-ldflags=-s -X main.version=v1", "-tags=netgo"}}},
			Workdir:  "/", User: "65532:65532", Entrypoint: []string{"/manager"}, Base: "alpine:3",
		}},
		"none": {"", nil, dockerfile.Recipe{}},
		"configuration": {"FROM scratch\nENV A=1 B=\"two words\"\nENV OLD form\nLABEL a.b=\"c d\"\nEXPOSE 80\nVOLUME /a /b\nSTOPSIGNAL SIGINT\nHEALTHCHECK NONE\nCMD [\"--x\"]\n", nil, dockerfile.Recipe{
			Env: []string{"A=1", "B=two words", "OLD=form"}, Labels: map[string]string{"a.b": "c d"}, Command: []string{"--x"}, Workdir: "/", Volumes: []string{"/a", "/b"}, StopSignal: "SIGINT",
		}},
		"of another stage": {"FROM scratch AS base\nENV A=1\nUSER 7\nCMD [\"a\"]\nFROM unused\nRUN unknown\nFROM base\nENV A=2\nENTRYPOINT [\"/m\"]\n", nil, dockerfile.Recipe{
			Env: []string{"A=2"}, User: "7", Entrypoint: []string{"/m"}, Workdir: "/",
		}},
		"left": {"FROM golang AS b\nRUN apt-get install x\nRUN go build -race -o /m . || true\nRUN <<EOF\nFROM nowhere\nEOF\nRUN go build -ldflags=$V -o m\nRUN CGO_ENABLED=1 go build\nRUN echo a >/etc/passwd && echo a >b\nFROM scratch\nRUN adduser op && rm -rf /var/cache && x\nENTRYPOINT /m\nCOPY --from=b /x /etc/passwd /\nCOPY --from=alpine /etc/motd /\nADD https://example.com/a /\nCOPY --parents a /\n", nil, dockerfile.Recipe{
			Programs: []dockerfile.Build{{File: "Dockerfile", Line: 8, Path: "/manager"}}, Workdir: "/",
			Left: []dockerfile.Line{
				{Number: 2, Text: "RUN apt-get install x", Why: "slipway runs only go build", Harmless: true},
				{Number: 3, Text: "RUN go build -race -o /m . || true", Why: "slipway does not understand this command"},
				{Number: 4, Text: "RUN <<EOF", Why: "slipway runs only go build"},
				{Number: 7, Text: "RUN go build -ldflags=$V -o m", Why: "$V has no value; --build-arg gives it one"},
				{Number: 8, Text: "CGO_ENABLED=1", Flag: true, Why: "a program with C code needs libraries, which the image does not have"},
				{Number: 9, Text: "RUN echo a >/etc/passwd && echo a >b", Why: "slipway does not understand this command"},
				{Number: 11, Text: "adduser op", Why: "slipway runs only go build", Harmless: true},
				{Number: 11, Text: "RUN adduser op && rm -rf /var/cache && x", Why: "slipway runs no command in the image"},
				{Number: 12, Text: "ENTRYPOINT /m", Why: "it needs a shell, which the image does not have"},
				{Number: 14, Text: "COPY --from=alpine /etc/motd /", Why: "slipway takes no files from another image"},
				{Number: 15, Text: "ADD https://example.com/a /", Why: "slipway downloads and unpacks nothing"},
				{Number: 16, Text: "COPY --parents a /", Why: "slipway does not know --parents"},
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, c.text, dockerfile.Options{Arguments: c.arguments})
			for i := range c.want.Left {
				c.want.Left[i].File = "Dockerfile"
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
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
		"nothing is understood": {"FROM go AS b\nRUN make\nFROM x\nCOPY --from=b /w/m /bin/m\nENTRYPOINT [\"/bin/m\"]", "", "", "/bin/m"},
		"nor where it is":       {"FROM go AS b\nRUN make\nFROM x\nCOPY --from=b /out /\nENTRYPOINT [\"/bin/m\"]", "", "", "/bin/m"},
		"a variable":            {"FROM go AS b\nARG B=m\nRUN go build -o $B ./cmd\nFROM x\nARG B=m\nCOPY --from=b /w/${B} /$B", "./cmd", "/m", ""},
		"a mark at the start":   {"\ufeffFROM x\nENTRYPOINT [\"/m\"]", "", "", "/m"},
		"another one":           {"FROM go AS b\nRUN go build -o /m ./cmd\nFROM x\nCOPY --from=b /m /m\nENTRYPOINT [\"/run.sh\"]", "./cmd", "/m", "/run.sh"},
		"arguments":             {"FROM go AS b\nRUN go build -o /m ./cmd\nFROM x\nCOPY --from=b /m /m\nCMD [\"--x\"]", "./cmd", "/m", "/usr/local/bin/--x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, c.text, dockerfile.Options{})
			if p := program(r); p.Package != c.pkg || p.Path != c.binary || r.Started() != c.started {
				t.Errorf("package %q at %q, %q is started; want %q, %q, %q\n%+v", p.Package, p.Path, r.Started(), c.pkg, c.binary, c.started, r.Left)
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
		left      string
	}{
		"in a flag":            {before + "ARG V\nRUN go build -ldflags=\"-X main.version=$V\" -o /m ./cmd" + after, "./cmd", []string{"-ldflags=-X main.version="}, ""},
		"a word":               {before + "ARG V\nRUN go build -o /m ./cmd $V" + after, "./cmd", nil, ""},
		"a default elsewhere":  {before + "ARG V\nRUN go build -tags=${V:-a} -o /m ./cmd" + after, "./cmd", []string{"-tags=a"}, ""},
		"before FROM":          {"ARG V\n" + before + "ARG V\nRUN go build -o /m ./cmd$V" + after, "./cmd", nil, ""},
		"it has a value":       {before + "ARG V=a\nARG V\nRUN go build -tags=$V -o /m ./cmd" + after, "./cmd", []string{"-tags=a"}, ""},
		"ENV gave it one":      {"ARG V\n" + before + "ENV V=a\nARG V\nRUN go build -tags=$V -o /m ./cmd" + after, "./cmd", []string{"-tags=a"}, ""},
		"the builder's":        {before + "ARG TARGETARCH\nRUN go build -o /m-$TARGETARCH ./cmd" + after, "", nil, "$TARGETARCH has no value; --build-arg gives it one"},
		"of another stage":     {before + "ARG V\nFROM go\nRUN go build -tags=$V -o /m ./cmd" + after, "", nil, "slipway does not know what makes /m"},
		"that is not declared": {before + "RUN go build -tags=$V -o /m ./cmd" + after, "", nil, "$V has no value; --build-arg gives it one"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, c.text, dockerfile.Options{})
			if diff := cmp.Diff(c.flags, program(r).Flags); diff != "" || program(r).Package != c.pkg {
				t.Errorf("package %q\n%s", program(r).Package, diff)
			}
			if c.left == "" && len(r.Left) > 0 || c.left != "" && (len(r.Left) == 0 || r.Left[0].Why != c.left) {
				t.Errorf("left: %+v", r.Left)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	const end = "\nFROM x\nCOPY --from=b /m /m\nENV PATH=$PATH:/x Q='$A' R=$A\n"
	r := read(t, "FROM go AS b\nENV GOFLAGS=-tags=a\nRUN GOFIPS140=latest go build -o /m"+end, dockerfile.Options{})
	if diff := cmp.Diff([]string{"GOFIPS140=latest"}, program(r).Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"-tags=a"}, program(r).Flags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/x", "Q=$A", "R="}, r.Env); diff != "" {
		t.Error(diff)
	}
}

// TestFiles: the image has the programs and the files of the project that the Dockerfile copies, by whatever way.
func TestFiles(t *testing.T) {
	file := func() *fstest.MapFile { return &fstest.MapFile{Data: []byte("x")} }
	files := fstest.MapFS{"go.mod": {Data: []byte("module example.com/op/v2\n")}, "cmd/main.go": file(), "config/a.yaml": file(), "config/b.yaml": file(), "config/deep/c.yaml": file(), "config/secret": file(), "run.sh": file(),
		".dockerignore": {Data: []byte("**/secret\n!go.mod\n")}}
	const build = "FROM go AS b\nWORKDIR /w\nCOPY . .\nRUN go build -o /out/m ./cmd && go build -o /out/tool ./tool && go build && cp config/a.yaml /out/\nFROM scratch\nWORKDIR /app\n"
	for name, c := range map[string]struct{ copy, want string }{
		"a folder":             {"COPY config /etc/op", "/etc/op/a.yaml=config/a.yaml /etc/op/b.yaml=config/b.yaml /etc/op/deep/c.yaml=config/deep/c.yaml"},
		"a file":               {"COPY run.sh .", "/app/run.sh=run.sh"},
		"a file by its name":   {"COPY run.sh /start", "/start=run.sh"},
		"a pattern":            {"COPY config/*.yaml /c/", "/c/a.yaml=config/a.yaml /c/b.yaml=config/b.yaml"},
		"of the stage":         {"COPY --from=b /w/config/deep /c", "/c/c.yaml=config/deep/c.yaml"},
		"a file of the stage":  {"COPY --from=b /w/run.sh /w/config/b.yaml ./", "/app/b.yaml=config/b.yaml /app/run.sh=run.sh"},
		"all that was made":    {"COPY --from=b /out /bin", "/bin/a.yaml=config/a.yaml /bin/m=./cmd /bin/tool=./tool"},
		"programs":             {"COPY --from=b /out/tool /out/m /", "/m=./cmd /tool=./tool"},
		"as a list, with mode": {"COPY --chmod=755 --chown=7:7 [\"run.sh\", \"/a b\"]", "/a b=run.sh 755 7:7"},
		"by the module's name": {"COPY --from=b /w/op /op", "/op=./."},
		"later ones":           {"COPY run.sh /x\nCOPY config/a.yaml /x", "/x=config/a.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, build+c.copy+"\n", dockerfile.Options{Files: files})
			listed, err := r.List(files, "Dockerfile")
			if err != nil || len(r.Left) > 0 {
				t.Fatalf("%v, left %+v", err, r.Left)
			}
			var got []string
			for _, f := range listed {
				got = append(got, strings.TrimSpace(f.To+"="+f.From+" "+strings.TrimSpace(f.Mode+" "+f.Owner)))
			}
			for _, p := range r.Programs {
				got = append(got, p.Path+"=./"+strings.TrimPrefix(p.Package, "./"))
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for text, why := range map[string]string{"COPY none /": "Dockerfile:7: COPY none /: the project has no none", "COPY --from=b /y /": "Dockerfile:7: COPY --from=b /y /: slipway does not know what makes /y", "COPY ../x /": "Dockerfile:7: COPY ../x /: the project has no x", "COPY */*/c.yaml /": "Dockerfile:7: COPY */*/c.yaml /: slipway does not know this pattern"} {
		if diff := cmp.Diff([]string{why}, left(read(t, build+text+"\n", dockerfile.Options{Files: files}))); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := read(t, build+"COPY config/secret /\n", dockerfile.Options{Files: files}).List(files, "Dockerfile"); err == nil || !strings.Contains(err.Error(), "config/secret") {
		t.Errorf("a file that .dockerignore leaves out: %v", err)
	}
}

// TestInvalid: what no builder takes is an error with its line.
func TestInvalid(t *testing.T) {
	for text, line := range map[string]int{"FROM a\nENV A\n": 2, "FROM a\nRUN <<EOF\n": 2, "# only a comment\n": 1, "FROM a\nRUN " + strings.Repeat("x", 1<<17): 1, strings.Repeat("FROM a\n", 200): 101} {
		_, err := dockerfile.Read(text, dockerfile.Options{})
		if e, ok := errors.AsType[*dockerfile.SyntaxError](err); !ok || e.Line != line {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestBomb: variables that stand for each other do not become gigabytes, and what builds with such a one is told.
func TestBomb(t *testing.T) {
	double := strings.Repeat("ENV A=$A$A\n", 60)
	for name, text := range map[string]string{
		"ENV": "FROM go AS b\nENV A=xxxx\n" + double, "ARG": "FROM go AS b\nARG A=xxxx\n" + strings.ReplaceAll(double, "ENV", "ARG"),
		"one line": "FROM go AS b\nENV A=" + strings.Repeat("x", 1<<15) + "\nENV B=" + strings.Repeat("$A", 1<<14) + "\nENV A=$B\n",
	} {
		r := read(t, text+"RUN go build -o /m -ldflags=$A ./cmd\nFROM scratch\nENV B=$A\nLABEL a=$A\nCOPY --from=b /m /m\n", dockerfile.Options{})
		size := 0
		for _, part := range slices.Concat(r.Env, program(r).Flags, []string{r.Labels["a"]}) {
			size += len(part)
		}
		if size > 4<<20 || len(left(r)) == 0 {
			t.Errorf("%s: %d bytes, %d lines are told", name, size, len(r.Left))
		}
	}
}

// TestLongPaths: a variable does not give each of many files a long path, nor what is copied or built into a folder.
func TestLongPaths(t *testing.T) {
	long := "/" + strings.Repeat("b/", 4000)
	for command, want := range map[string]int{
		"COPY d " + long: 1, "WORKDIR " + long: 1, "RUN cd " + long: 1, "COPY d /a/" + strings.Repeat("c", 3000): 0,
		"COPY d " + long + "\nCOPY d/e " + long: 2,
	} {
		r := read(t, "FROM scratch\n"+command+"\n", dockerfile.Options{Files: fstest.MapFS{"d/e": {}}})
		if got := left(r); len(got) != want || len(r.Workdir) > 4096 {
			t.Errorf("%.20s: %d are left, in a folder of %d bytes: %q", command, len(got), len(r.Workdir), got)
		}
	}
	name := strings.Repeat("c", 200)
	r := read(t, "FROM scratch\nCOPY d /"+strings.Repeat("b/", 2000)+"\n", dockerfile.Options{})
	if list, err := r.List(fstest.MapFS{"d/" + name: {}}, "Dockerfile"); err == nil {
		t.Errorf("it lists %d files", len(list))
	}
}

// TestManyCopies: a folder that is copied again as before is listed once, and files that are left out count, too.
func TestManyCopies(t *testing.T) {
	files := fstest.MapFS{"a": {}, ".dockerignore": {Data: []byte("b*\n.dockerignore\n")}}
	for i := range 300 {
		files[fmt.Sprint("b", i)] = &fstest.MapFile{}
	}
	r := read(t, "FROM scratch\n"+strings.Repeat("COPY . /\n", 100), dockerfile.Options{Files: files})
	if list, err := r.List(files, "Dockerfile"); err != nil || len(r.Files) != 1 || len(list) != 1 {
		t.Errorf("%v: %d copies, %d files", err, len(r.Files), len(list))
	}
	r = read(t, "FROM scratch\n"+strings.Repeat("COPY . /\nCOPY --chmod=644 . /\nCOPY . /c\n", 2), dockerfile.Options{Files: files})
	if len(r.Files) != 3 {
		t.Errorf("%d copies", len(r.Files))
	}
	for i := range 1000 {
		r.Files = append(r.Files, dockerfile.Copy{From: ".", To: fmt.Sprint("/c", i)})
	}
	if list, err := r.List(files, "Dockerfile"); err == nil {
		t.Errorf("%d files of %d copies", len(list), len(r.Files))
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
	f.Add("# escape=`\nFROM a AS b\nCOPY . /w\nRUN cd /w && env ${A:-x} make -j4 build V=1 `\n && cp x /y\nFROM b\nCOPY --from=b --chmod=1 [\"/y\", \"/\"]")
	files := fstest.MapFS{"Makefile": {Data: []byte("V=$(V)\nbuild: build\n\tgo build -o $@ ./x\n")}, "x/main.go": {Data: []byte("package main")}}
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1
		for _, c := range text {
			if c == '\n' {
				lines++
			}
		}
		r, err := dockerfile.Read(text, dockerfile.Options{Files: files})
		if e, ok := errors.AsType[*dockerfile.SyntaxError](err); err != nil && (!ok || e.Line < 1 || e.Line > lines) {
			t.Errorf("%v, of %d lines", err, lines)
		}
		for _, l := range r.Left {
			if l.Number < 1 || l.File == "Dockerfile" && l.Number > lines || l.Why == "" {
				t.Errorf("%+v, of %d lines", l, lines)
			}
		}
		for _, p := range r.Programs {
			harmless(t, p)
		}
		_, _ = r.List(files, "Dockerfile") // to its end
	})
}

// TestTarget: the stage that is named, or numbered, is the last one.
func TestTarget(t *testing.T) {
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
		r, err := dockerfile.Read(text, dockerfile.Options{Target: target})
		if err != nil || r.User != want {
			t.Errorf("%q: user %q, %v; want %q", target, r.User, err, want)
		}
	}
	if _, err := dockerfile.Read(text, dockerfile.Options{Target: "debug"}); err == nil || !strings.Contains(err.Error(), "builder, plain, 2") {
		t.Errorf("a stage that does not exist: %v", err)
	}
}
