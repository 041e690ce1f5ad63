package person

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a PersonService are called from outside.
var Operations = operation.Of("tokens", "/api/passphrase",
	operation.Get("", "Whether a passphrase is set, by which a person is known", PersonService.State),
	operation.Put("", "Set the passphrase, or change it with the former one; for the owner", PersonService.SetPassphrase).Needs("admin"),
	operation.Post("/person", "Begin a person's session of 15 minutes: its secret is sent in the header Skill-Router-Person with what only a person decides", PersonService.SignIn),
	operation.Put("/agents-may-stop", "Say whether the setting agents_may_stop has effect, from the next start on; for a person", PersonService.AllowStops).Needs("admin"),
)
