/* What Wine 8 lacks of Windows 10 and Go programs need, as a DLL: the Go runtime loads bcryptprimitives.dll before it does
 * anything else. .ci/wine compiles it and puts it into its own prefix. */
#include <stdio.h>
#include <string.h>
#include <windows.h>
#include <winternl.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

/* ProcessPrng is where the Go runtime gets random bytes. */
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
	while (size > 0) {
		ULONG part = size > 1 << 20 ? 1 << 20 : (ULONG)size;
		if (!SystemFunction036(data, part))
			return FALSE;
		data += part;
		size -= part;
	}
	return TRUE;
}

/* Windows 10 deletes at once what somebody has open: the name is free, and the folder that held it may be empty. Wine
 * knows only the older way, in which the name stays until the last handle is closed. So what is deleted gets another name
 * first, elsewhere on its drive. os.RemoveAll falls back to the older way where the newer one is "not supported", but
 * Wine says "not implemented". */
enum { RENAME = 10, DISPOSITION = 13, DISPOSITION_EX = 64, NOT_SUPPORTED = 0xC00000BB };

typedef NTSTATUS(NTAPI *set_information)(HANDLE, PIO_STATUS_BLOCK, PVOID, ULONG, ULONG);
static set_information original;

static NTSTATUS NTAPI set_information_file(HANDLE file, PIO_STATUS_BLOCK status, PVOID info, ULONG size, ULONG class)
{
	static LONG deleted;
	struct {
		FILE_RENAME_INFORMATION rename;
		WCHAR rest[80];
	} to;
	IO_STATUS_BLOCK ignored;
	NTSTATUS result;
	int n;

	if (class == DISPOSITION_EX)
		return NOT_SUPPORTED;
	result = original(file, status, info, size, class);
	if (result == 0 && class == DISPOSITION && *(BOOLEAN *)info) {
		memset(&to, 0, sizeof to);
		n = _snwprintf(to.rename.FileName, 80, L"\\??\\C:\\windows\\temp\\deleted-%lu-%ld", GetCurrentProcessId(),
			       InterlockedIncrement(&deleted));
		to.rename.FileNameLength = n * sizeof(WCHAR);
		original(file, &ignored, &to, sizeof to, RENAME);
	}
	return result;
}

/* Wine says that it has made a link, and has made none. A user of Windows may lack the right to make links. */
static BOOLEAN WINAPI create_symbolic_link(const WCHAR *link, const WCHAR *target, DWORD flags)
{
	(void)link, (void)target, (void)flags;
	SetLastError(ERROR_PRIVILEGE_NOT_HELD);
	return FALSE;
}

/* replace has calls of a function go to another one. */
static void replace(void *function, void *by)
{
	BYTE jump[] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; /* mov rax, by; jmp rax */
	DWORD old;

	memcpy(jump + 2, &by, sizeof by);
	VirtualProtect(function, sizeof jump, PAGE_EXECUTE_READWRITE, &old);
	memcpy(function, jump, sizeof jump);
	VirtualProtect(function, sizeof jump, old, &old);
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
	void *function;

	(void)self, (void)reserved;
	if (reason != DLL_PROCESS_ATTACH)
		return TRUE;
	/* This one is a system call of Wine: 32 bytes of code that run at any address. */
	function = (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
	original = (set_information)VirtualAlloc(NULL, 32, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
	memcpy((void *)original, function, 32);
	replace(function, (void *)set_information_file);
	replace((void *)GetProcAddress(GetModuleHandleA("kernel32.dll"), "CreateSymbolicLinkW"), (void *)create_symbolic_link);
	return TRUE;
}
