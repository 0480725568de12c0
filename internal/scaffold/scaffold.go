package scaffold

import (
	"context"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/deletion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/lock"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
	"github.com/slipway-dev/slipway/project"
)

// The inputs of verbs, and the plans that verbs make of them.
type (
	// A Plan is a set of file changes that is decided and not yet written.
	Plan = plan.Plan
	// A Difference is what a plan would make of a file.
	Difference = plan.Difference
	// A Replaced is a file as it was before something that follows from a plan wrote it.
	Replaced = plan.Replaced

	// A Project says what to scaffold. Empty fields get a default from the folder.
	Project = newproject.Options
	// A License says what stands at the top of a project's Go files.
	License = header.License
	// An API says what to add to a project.
	API = newapi.Options
	// An Image is the container that a kind's controller runs in a Deployment.
	Image = newapi.Image
	// An External says where the Go types of another module are.
	External = kind.External
	// A Webhook says which webhooks to give a kind.
	Webhook = newwebhook.Options
	// Folders are the user's own: what [Hold] keeps there.
	Folders = lock.Folders
	// A Deletion says what to take out of a project.
	Deletion = deletion.Options
	// A WebhookDeletion says which webhooks of a kind to take out; none of them means all.
	WebhookDeletion = deletion.WebhookOptions
)

// ImagePlugin is where PROJECT records what APIs that run an image were made with.
const ImagePlugin = newapi.ImagePlugin

// Init plans a new project in a folder, or what is missing of it. It refuses a folder
// that holds another project, and names that Kubernetes or Go would refuse later.
func Init(folder *fileview.Folder, o Project) (*Plan, error) { return newproject.Create(folder, o) }

// CreateAPI plans an API in the project in a folder. It keeps everything that is there already and completes what is
// missing.
func CreateAPI(folder *fileview.Folder, o API) (*Plan, error) { return newapi.Create(folder, o) }

// CheckAPI refuses what [CreateAPI] would refuse whatever the project's files hold.
func CheckAPI(folder *fileview.Folder, o API) error { return newapi.Check(folder, o) }

// CreateWebhook plans webhooks in the project in a folder. It keeps everything that is there already and completes
// what is missing.
func CreateWebhook(folder *fileview.Folder, o Webhook) (*Plan, error) {
	return newwebhook.Create(folder, o)
}

// CheckWebhook refuses what cannot be created in the project in a folder, before anything is fetched.
func CheckWebhook(folder *fileview.Folder, o Webhook) error { return newwebhook.Check(folder, o) }

// ErrOneVersion is why a kind with a single version gets no conversion.
var ErrOneVersion = newwebhook.ErrOneVersion

// DeleteAPI plans the undoing of what created an API in the project in a folder: its
// files, its lines in files that it shares, and its entry in PROJECT. Changed files and
// lines stay, and the plan's changes say which and why. When there is nothing to delete,
// the plan has nothing to do: deleting twice is no mistake.
func DeleteAPI(folder *fileview.Folder, o Deletion) (*Plan, error) { return deletion.API(folder, o) }

// DeleteWebhook plans the undoing of what created webhooks in the project in a
// folder; see [DeleteAPI].
func DeleteWebhook(folder *fileview.Folder, o WebhookDeletion) (*Plan, error) {
	return deletion.Webhook(folder, o)
}

// ReadProject reads the PROJECT file in a folder; what is wrong with it is reported in words for its user.
func ReadProject(folder *fileview.Folder) (*project.Project, error) { return projectfile.Read(folder) }

// ProjectInCode is [ReadProject] with what the project's code says of it: the path of its module, and where its types
// are.
func ProjectInCode(folder *fileview.Folder) (*project.Project, error) {
	_, file, err := projectfile.Look(folder)
	return file, err
}

// Hold makes sure that no other process changes the project in a folder until release is
// called: a plan is made and applied in between. It waits for another command, and reports
// h so. Then it takes back what a command left that was killed.
func Hold(ctx context.Context, root string, own Folders, h report.Handler) (release func(), err error) {
	return lock.Hold(ctx, root, own, h)
}

// Interrupted reports whether a command in the folder did not end, is still at work, or something looks like one.
func Interrupted(root string) bool { return transaction.Interrupted(root) }

// CheckGo refuses a Go installation that is missing or older than scaffolded projects need.
func CheckGo(ctx context.Context, root string) error { return gomod.CheckGo(ctx, root) }

// Fetch makes sure that every package that the project in a folder imports is in
// the module cache, and reports h of downloads. It needs no network if they all are.
func Fetch(ctx context.Context, root string, h report.Handler) error {
	return gomod.Fetch(ctx, root, h)
}

// Require has the project's go.mod require the module of an external kind, unless it does:
// it is fetched, and nothing else of the project is changed.
func Require(ctx context.Context, root string, external External, h report.Handler) error {
	return gomod.Get(ctx, root, external.Path, external.Module, h)
}
