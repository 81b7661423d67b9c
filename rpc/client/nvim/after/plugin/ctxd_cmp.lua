-- Registers the completion source "ctxd" where nvim-cmp is installed.
local found, cmp = pcall(require, 'cmp')
if found then
  cmp.register_source('ctxd', require('ctxd.cmp').new())
end
