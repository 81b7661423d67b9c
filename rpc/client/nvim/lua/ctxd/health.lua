-- :checkhealth ctxd
local daemon = require('ctxd.daemon')
local M = {}

local report = vim.health or require('health')
local start = report.start or report.report_start
local ok = report.ok or report.report_ok
local info = report.info or report.report_info
local warn = report.warn or report.report_warn
local fail = report.error or report.report_error

local function program(cmd)
  if vim.fn.executable(cmd) == 0 then
    fail(('there is no program %s'):format(cmd), { 'Install ctxd, or give its path: require("ctxd").setup({ cmd = PATH })' })
    return false
  end
  ok(('%s: %s'):format(vim.fn.exepath(cmd), vim.trim(vim.fn.system({ cmd, 'version' }))))
  vim.fn.system({ cmd, 'lsp', '--help' })
  if vim.v.shell_error ~= 0 then
    warn('this version of ctxd has no language server', { 'Install a newer version; completion works without' })
  end
  return true
end

local function service()
  local health, err = daemon.wait('admin.health', {})
  if not health then
    fail('the daemon does not answer: ' .. err.message, { 'Run: ctxd doctor' })
    return
  end
  local say = health.status == 'healthy' and ok or warn
  say(('the daemon is %s: version %s, process %d'):format(health.status, health.version, health.pid))
  for _, warning in ipairs(health.warnings or {}) do
    warn(warning.message or vim.inspect(warning))
  end
  local list = daemon.wait('vault.list', {})
  if not list or #list.vaults == 0 then
    warn('the daemon has no vault', { 'Run: ctxd import FOLDER' })
    return
  end
  for _, vault in ipairs(list.vaults) do
    ok(('vault %s: %d notes in %s'):format(vault.vault, vault.notes, vault.path))
  end
end

local function editor()
  local attached = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and require('ctxd.lsp').client(buf) then
      table.insert(attached, vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':t'))
    end
  end
  if #attached > 0 then
    ok('the language server serves ' .. table.concat(attached, ', '))
  else
    info('the language server serves no buffer: open a Markdown file of a vault')
  end
  local found = pcall(require, 'cmp')
  info(found and 'nvim-cmp is installed: add { name = "ctxd" } to its sources' or 'nvim-cmp is not installed; CTRL-X CTRL-O completes')
end

function M.check()
  start('ctxd')
  if vim.fn.has('nvim-0.7') == 0 then
    fail('Neovim 0.7 or later is needed')
    return
  end
  if program(require('ctxd').config.cmd) then
    service()
    editor()
  end
end

return M
