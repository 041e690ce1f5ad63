package process

import (
	"fmt"
	"io/fs"
	"net"

	"golang.org/x/sys/windows"
)

// Own is true: there, the folders of users are closed to each other.
func Own(fs.FileInfo) bool { return true }

// Close lets this user, administrators and the system into a folder, and nobody else.
func Close(dir string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	list, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return err
	}
	rights, _, err := list.DACL()
	if err != nil {
		return err
	}
	_ = windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, rights, nil)
	return nil // some volumes keep no such lists: Closed then says whose the folder is
}

// Closed says why a folder may be another user's, or nil: its owner is this user, the administrators or the system.
func Closed(dir string) error {
	info, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := info.Owner()
	if err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	if !owner.Equals(user.User.Sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) && !owner.IsWellKnown(windows.WinLocalSystemSid) {
		return fmt.Errorf("the folder %s belongs to another user (%s)", dir, owner)
	}
	return nil
}

// Vouch says why a connection to a socket in a folder may lead to another user's program, or nil: Windows does not tell whose that
// is, and the folder must be this user's.
func Vouch(_ *net.UnixConn, dir string) error { return Closed(dir) }
